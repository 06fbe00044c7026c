import { Document, visit } from 'yaml';
import { ACTING_UNESCAPED, bigintAsNumber, inUnicodeNotation } from './terminal-text.ts';

/** Formats a value as YAML with the same meaning in YAML 1.1 and 1.2, with control characters escaped. */
export function terminalYaml(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value, bigintAsNumber)), { compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_key, node) => {
      // use double quotes, the only style in which YAML recognizes escape sequences
      if (typeof node.value === 'string' && node.value.search(ACTING_UNESCAPED) >= 0) node.type = 'QUOTE_DOUBLE';
      if (node.value === '=') node.type = 'QUOTE_DOUBLE'; // the default value of YAML 1.1, which `compat` does not handle
    },
  });
  return document.toString().replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}
