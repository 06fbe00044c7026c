import { type Document, isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from 'yaml';
import type { FieldPath } from '../api/issue.ts';
import { composeDocuments, type DocumentShape, inspectDocument } from './yaml-bounds.ts';

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

/**
 * Reads a text of YAML 1.2 (or JSON) documents, at most `maxDocuments` and one more. With problems, the documents are not to be
 * used. What it costs is bounded and grows with the length of the text.
 */
export function readYamlDocuments(
  text: string,
  maxDocuments: number,
): { documents: YamlDocument[]; problems: SyntaxProblem[] } {
  const lines = new LineCounter();
  const position = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: SyntaxProblem[] = [];
  const report = (offset: number, message: string) => {
    problems.push({ ...position(offset), message: inOneLine(message) });
  };
  const documents: YamlDocument[] = [];
  for (const document of composeDocuments(text, lines, report)) {
    const before = problems.length;
    for (const { pos, message } of [...document.errors, ...document.warnings]) report(pos[0], message);
    const shape = inspectDocument(document);
    for (const { key, offset, firstOffset } of shape.duplicates)
      report(offset, `map keys must be unique: ${shortly(key)} is in line ${position(firstOffset).line} already`);
    if (shape.refusal !== undefined) report(shape.refusal.offset, shape.refusal.message);
    if (problems.length > before) continue;
    const locator = new NodeLocator(document, shape.targets);
    try {
      // aliases are counted by `inspectDocument`
      const value: unknown = document.toJS({ maxAliasCount: -1 });
      documents.push({ value, locate: (path, at) => position(locator.offsetOf(path, at)) });
    } catch (error) {
      report(document.range?.[0] ?? 0, String(error));
    }
    if (documents.length > maxDocuments) break;
  }
  return { documents, problems };
}

function inOneLine(message: string): string {
  const line = message
    .slice(0, 1000)
    .replace(/^\w*Error: /, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300);
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function shortly(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 57)}…` : key);
}

/** Finds fields of a document in its text. */
class NodeLocator {
  readonly #document: Document;
  readonly #targets: DocumentShape['targets'];
  /** The pairs of maps that were looked into, by key: a map is gone through once. */
  readonly #pairs = new Map<YAMLMap, Map<string, { key: unknown; value: unknown }>>();

  constructor(document: Document, targets: DocumentShape['targets']) {
    this.#document = document;
    this.#targets = targets;
  }

  offsetOf(path: FieldPath, at: 'key' | 'value'): number {
    let node: unknown = this.#document.contents;
    let offset = startOf(node) ?? 0;
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = this.#targets.get(node);
      const child = this.#childOf(node, step);
      if (child === undefined) break;
      node = child.value;
      const wantsKey = at === 'key' && index === path.length - 1;
      offset = (wantsKey ? undefined : startOf(node)) ?? child.keyOffset ?? offset;
    }
    return offset;
  }

  #childOf(node: unknown, step: string | number): { value: unknown; keyOffset?: number } | undefined {
    if (isSeq(node) && typeof step === 'number')
      return step < node.items.length ? { value: node.items[step] } : undefined;
    if (!isMap(node)) return undefined;
    const pair = this.#pairsOf(node).get(String(step));
    return pair === undefined ? undefined : { value: pair.value, keyOffset: startOf(pair.key) };
  }

  #pairsOf(map: YAMLMap): Map<string, { key: unknown; value: unknown }> {
    const known = this.#pairs.get(map);
    if (known !== undefined) return known;
    const pairs = new Map<string, { key: unknown; value: unknown }>();
    for (const item of map.items) if (isPair(item) && isScalar(item.key)) pairs.set(String(item.key.value), item);
    this.#pairs.set(map, pairs);
    return pairs;
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
