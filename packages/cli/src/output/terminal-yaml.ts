import { Document, visit } from 'yaml';
import { ACTING_UNESCAPED, bigintAsNumber, inUnicodeNotation } from './terminal-text.ts';

/** YAML that says exactly this, and that no terminal acts on. */
export function terminalYaml(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value, bigintAsNumber)));
  visit(document, {
    Scalar: (_key, node) => {
      // only in double quotes is an escape the character itself
      if (typeof node.value === 'string' && node.value.search(ACTING_UNESCAPED) >= 0) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString().replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}
