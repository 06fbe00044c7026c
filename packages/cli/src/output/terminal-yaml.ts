import { Document, visit } from 'yaml';
import { ACTING_UNESCAPED, bigintAsNumber, inUnicodeNotation } from './terminal-text.ts';

/** YAML that says exactly this, to readers of YAML 1.1 and 1.2 alike, and that no terminal acts on. */
export function terminalYaml(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value, bigintAsNumber)), { compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_key, node) => {
      // only in double quotes is an escape the character itself
      if (typeof node.value === 'string' && node.value.search(ACTING_UNESCAPED) >= 0) node.type = 'QUOTE_DOUBLE';
      if (node.value === '=') node.type = 'QUOTE_DOUBLE'; // YAML 1.1's default value, which `compat` does not know
    },
  });
  return document.toString().replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}
