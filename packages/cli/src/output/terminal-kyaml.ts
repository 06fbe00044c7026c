import { ACTING_UNESCAPED, bigintAsNumber, inUnicodeNotation } from './terminal-text.ts';

/**
 * Formats a value as KYAML (KEP-5295): YAML with braces, brackets and double-quoted strings, as printed by `kubectl -o kyaml`. Control
 * characters are escaped without changing the value.
 */
export function terminalKyaml(value: unknown): string {
  const text = rendered(JSON.parse(JSON.stringify(value, bigintAsNumber)), '');
  return `---\n${text}\n`.replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}

function rendered(value: unknown, indent: string): string {
  if (typeof value === 'string') return renderString(value, `${indent}  `);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return renderList(value, indent);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, item]) => `${indent}  ${renderKey(key)}: ${rendered(item, `${indent}  `)},\n`);
  return `{\n${lines.join('')}${indent}}`;
}

/** Renders a list. If all its items are objects or lists, its brackets are placed on the same lines as theirs. */
function renderList(items: unknown[], indent: string): string {
  if (items.every((item) => typeof item === 'object' && item !== null))
    return `[${items.map((item) => rendered(item, indent)).join(', ')}]`;
  const lines = items.map((item) => `${indent}  ${rendered(item, `${indent}  `)},\n`);
  return `[\n${lines.join('')}${indent}]`;
}

/** Renders a string. Text with line breaks is split over several lines, each ending with an escaped line break, which YAML ignores. */
function renderString(text: string, indent: string): string {
  if (!text.includes('\n')) return JSON.stringify(text);
  const lines = text.split(/(?<=\n)/).map((line) => {
    const margin = line.startsWith(' ') ? '\\' : ' '; // marks the start of the text, since YAML ignores leading spaces
    return `${indent}${margin}${JSON.stringify(line).slice(1, -1)}\\\n`;
  });
  return `"\\\n${lines.join('')}${indent}"`;
}

/** Quotes a key unless all YAML parsers read it as a string. */
function renderKey(key: string): string {
  const isPlain = /^[\p{L}_]([\p{L}\p{N}_./-]*[\p{L}\p{N}_])?$/u.test(key);
  return isPlain && !/^(null|true|false|y|yes|on|n|no|off|t|f|inf|infinity|nan)$/i.test(key)
    ? key
    : JSON.stringify(key);
}
