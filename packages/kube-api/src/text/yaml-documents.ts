import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { FieldPath } from '../issue.ts';
import { type JsonDocument, readJsonDocument } from './json-document.ts';
import { TextLines, type TextPosition } from './text-lines.ts';
import { composeDocuments, type DocumentShape, inspectDocument, isMergeKey, keyName } from './yaml-bounds.ts';
import { YamlValues } from './yaml-values.ts';

/** A YAML syntax error and its position. */
export type SyntaxProblem = TextPosition & { message: string };

/** One YAML document in a text: its plain value and the positions of its fields. */
export type YamlDocument = {
  value: unknown;
  /** Returns the position of a field's value or name, or of the nearest enclosing node (map or list) if the field is absent. */
  locate(path: FieldPath, at: 'key' | 'value'): TextPosition;
  /** Returns a scalar as written, without quotes; `undefined` if the field is not a scalar. */
  written(path: FieldPath): string | undefined;
  /** Duplicate fields. The last occurrence applies. */
  duplicates: (SyntaxProblem & { path: FieldPath })[];
};

/**
 * Reads YAML (or JSON) documents the way Kubernetes does (`yaml-scalars.ts`, `yaml-values.ts`). Reads at most one document more than
 * `maxDocuments`, so that callers can detect the excess. Rejects texts with more than `maxTokens` tokens (names, values, punctuation,
 * comments and line breaks; a block scalar is a single token, even if it is a megabyte long). If any problems are returned, the documents
 * must not be used. The cost is bounded, and linear in the length of the text.
 */
export function readYamlDocuments(
  text: string,
  maxDocuments: number,
  maxTokens = 200_000,
): { documents: YamlDocument[]; problems: SyntaxProblem[] } {
  const json = readJsonDocument(text);
  return json === undefined
    ? readYaml(text, maxDocuments, maxTokens)
    : { documents: [ofJson(text, json)], problems: [] };
}

function ofJson(text: string, { value, offsetOf, written }: JsonDocument): YamlDocument {
  const lines = new TextLines(text);
  return { value, locate: (path, at) => lines.positionOf(offsetOf(path, at)), written, duplicates: [] };
}

function readYaml(
  text: string,
  maxDocuments: number,
  maxTokens: number,
): { documents: YamlDocument[]; problems: SyntaxProblem[] } {
  const lines = new TextLines(text);
  const position = (offset: number) => lines.positionOf(offset);
  const problems: SyntaxProblem[] = [];
  const report = (offset: number, message: string) => {
    problems.push({ ...position(offset), message: inOneLine(message) });
  };
  const documents: YamlDocument[] = [];
  for (const document of composeDocuments(text, maxTokens, report)) {
    const before = problems.length;
    for (const { pos, code, message } of document.errors)
      report(pos[0], code === 'NON_STRING_KEY' ? nonStringKey(text, pos[0]) : message);
    // ignore other warnings: go-yaml accepts any indentation in flow sequences and any %YAML version
    for (const { pos, message, code } of document.warnings) if (code === 'TAG_RESOLVE_FAILED') report(pos[0], message);
    const shape = inspectDocument(document);
    if (shape.refusal !== undefined) report(shape.refusal.offset, shape.refusal.message);
    if (problems.length > before) continue;
    const values = new YamlValues(shape.targets, report);
    const value = values.of(document.contents);
    if (problems.length > before) continue;
    const locator = new NodeLocator(document, shape.targets);
    const duplicates = shape.duplicates.map(({ path, offset, firstOffset }) => ({
      ...position(offset),
      path,
      message: `${shortly(String(path.at(-1)))} is in line ${position(firstOffset).line} already; this one is used, as in Kubernetes`,
    }));
    documents.push({
      value,
      duplicates,
      locate: (path, at) => position(locator.offsetOf(path, at)),
      written: (path) => locator.writtenAt(path),
    });
    if (documents.length > maxDocuments) break;
  }
  return { documents, problems };
}

/**
 * Returns the error message for a non-string key. Most of them are from unrendered templates, where `{{` is parsed as a map used as a key.
 */
function nonStringKey(text: string, offset: number): string {
  const isTemplate = text.slice(Math.max(0, offset - 1), offset + 2).includes('{{');
  return `a key must be text, a number, true or false${isTemplate ? '; this looks like a template, which must be rendered first' : ''}`;
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

class NodeLocator {
  readonly #document: Document;
  readonly #targets: DocumentShape['targets'];
  /** The key-value pairs of each visited map, by key. Caches them so that each map is indexed only once. */
  readonly #pairs = new Map<YAMLMap, Map<string, { key: unknown; value: unknown }>>();

  constructor(document: Document, targets: DocumentShape['targets']) {
    this.#document = document;
    this.#targets = targets;
  }

  offsetOf(path: FieldPath, at: 'key' | 'value'): number {
    let offset = startOf(this.#document.contents) ?? 0;
    for (const { node, keyOffset, isLast } of this.#walk(path))
      offset = (at === 'key' && isLast ? undefined : startOf(node)) ?? keyOffset ?? offset;
    return offset;
  }

  writtenAt(path: FieldPath): string | undefined {
    let found: unknown = path.length === 0 ? this.#document.contents : undefined;
    for (const { node, isLast } of this.#walk(path)) if (isLast) found = isAlias(node) ? this.#targets.get(node) : node;
    return isScalar(found) ? found.source : undefined;
  }

  /** Walks from the root towards the node at `path`, as far as it exists. */
  *#walk(path: FieldPath): Generator<{ node: unknown; keyOffset?: number; isLast: boolean }> {
    let node: unknown = this.#document.contents;
    for (const [index, step] of path.entries()) {
      const child = this.#childOf(isAlias(node) ? this.#targets.get(node) : node, step);
      if (child === undefined) return;
      node = child.value;
      yield { node, keyOffset: child.keyOffset, isLast: index === path.length - 1 };
    }
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
    for (const item of map.items) {
      const name = isPair(item) && !isMergeKey(item.key) ? keyName(item.key) : undefined;
      if (name !== undefined) pairs.set(name, item);
    }
    this.#pairs.set(map, pairs);
    return pairs;
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
