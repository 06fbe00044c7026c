import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type ScalarTag,
} from 'yaml';
import type { FieldPath } from '../api/issue.ts';

/** A place in a text, both counted from 1. */
export type TextPosition = { line: number; column: number };

/** Something wrong with the text as YAML. */
export type SyntaxProblem = TextPosition & { message: string };

/** One document of a text: its plain value, and where each field stands. */
export type YamlDocument = {
  value: unknown;
  /** The place of a field's value, or of its name; the nearest part around it if it is not there. */
  locate(path: FieldPath, at: 'key' | 'value'): TextPosition;
};

/** How many aliases may be expanded: enough for people, too few for a bomb. */
const maxAliasCount = 100;

/** `0644` means what it means in Kubernetes, where files are read as YAML 1.1, and not 644. */
const octalWithLeadingZero: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  identify: () => false,
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

/** Reads a text of any number of YAML 1.2 (or JSON) documents. With problems, the documents are not to be used. */
export function readYamlDocuments(text: string): { documents: YamlDocument[]; problems: SyntaxProblem[] } {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    merge: true,
    stringKeys: true,
    customTags: (tags) => [octalWithLeadingZero, ...tags],
  });
  const position = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: SyntaxProblem[] = [];
  const documents: YamlDocument[] = [];
  for (const document of parsed) {
    const issues = [...document.errors, ...document.warnings];
    problems.push(...issues.map(({ pos, message }) => ({ ...position(pos[0]), message: inOneLine(message) })));
    if (issues.length > 0) continue;
    try {
      const value: unknown = document.toJS({ maxAliasCount });
      documents.push({ value, locate: (path, at) => position(offsetOf(document, path, at)) });
    } catch (error) {
      problems.push({ ...position(document.range?.[0] ?? 0), message: inOneLine(String(error)) });
    }
  }
  return { documents, problems };
}

function inOneLine(message: string): string {
  const line = message
    .replace(/^\w*Error: /, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300);
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function offsetOf(document: Document, path: FieldPath, at: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const child = childOf(node, step);
    if (child === undefined) break;
    node = child.value;
    const wantsKey = at === 'key' && index === path.length - 1;
    offset = (wantsKey ? undefined : startOf(node)) ?? child.keyOffset ?? offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function childOf(node: unknown, step: string | number): { value: unknown; keyOffset?: number } | undefined {
  if (isSeq(node) && typeof step === 'number')
    return step < node.items.length ? { value: node.items[step] } : undefined;
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step));
  return pair === undefined ? undefined : { value: pair.value, keyOffset: startOf(pair.key) };
}
