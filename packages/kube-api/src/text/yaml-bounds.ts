import {
  Composer,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type ParseOptions,
  Parser,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
} from 'yaml';
import type { FieldPath } from '../issue.ts';
import { JsonStream } from './json-stream.ts';
import { type PlainValue, plainKey, plainValue } from './yaml-scalars.ts';

/** Maximum nesting depth of lists and maps. Kubernetes' own types need fewer than 20 levels. */
const MAX_DEPTH = 100;
/** Maximum number of anchors and aliases per document. The YAML library compares each alias with all of them. */
const MAX_ANCHORS = 2000;
/** Maximum number of values per document after expanding aliases. Every 64 characters of text count as an additional value. */
const MAX_EXPANDED_VALUES = 300_000;
const MAX_PROBLEMS = 1000;

/** Reports a problem at an offset in the YAML text. */
export type Report = (offset: number, message: string) => void;

const scalarTag = (name: string, holds: (value: PlainValue) => boolean): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  identify: () => false,
  resolve: (text, onError) => {
    const value = plainValue(text);
    if (!holds(value)) onError(`!!${name} does not fit ${JSON.stringify(text.slice(0, 60))}`);
    return value;
  },
});

/** Explicit tags for scalars. The YAML library treats untagged scalars as text; they are interpreted in `yaml-documents.ts`. */
const SCALAR_TAGS = [
  scalarTag('null', (value) => value === null),
  scalarTag('bool', (value) => typeof value === 'boolean'),
  scalarTag('int', Number.isInteger),
  scalarTag('float', (value) => typeof value === 'number'),
];

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  prettyErrors: false,
  logLevel: 'silent',
  // prevents a %YAML 1.1 directive from enabling that version's additional types
  schema: 'failsafe',
  resolveKnownTags: false,
  stringKeys: true,
  // disable the library's check for duplicate keys, which is quadratic; `inspectDocument` checks in linear time
  uniqueKeys: false,
  customTags: (tags: Tags) => [...tags, ...SCALAR_TAGS],
};

const DOCUMENT_START = '---';

class TooManyProblems extends Error {}

/** Marker emitted by the lexer before the text of a plain or block scalar. */
const SCALAR_FOLLOWS = '\x1f';

/**
 * Replaces `\'` in double-quoted strings with `\x27` before parsing, since `\'` is accepted by go-yaml, and therefore by Kubernetes, but
 * not by the YAML library.
 */
class QuoteEscapes {
  #isText = false;

  /** Returns the lexeme in a form accepted by the YAML library, and the number of characters added. */
  mend(lexeme: string): { lexeme: string; grownBy: number } {
    const isText = this.#isText;
    this.#isText = lexeme === SCALAR_FOLLOWS;
    if (isText || !lexeme.startsWith('"') || !lexeme.includes("\\'")) return { lexeme, grownBy: 0 };
    const mended = lexeme.replaceAll(/\\[\s\S]/g, (pair) => (pair === "\\'" ? '\\x27' : pair));
    return { lexeme: mended, grownBy: mended.length - lexeme.length };
  }
}

/** Parses the documents in a text one at a time. Stops if the text is too large or too deeply nested, or has too many errors. */
export function* composeDocuments(text: string, maxTokens: number, report: Report): Generator<Document.Parsed> {
  const parser = new Parser();
  const composer = boundedComposer();
  let problems = 0;
  function* compose(tokens: ReturnType<Parser['next']>): Generator<Document.Parsed> {
    for (const token of tokens) {
      if (token.type === 'error' && ++problems > MAX_PROBLEMS) throw new TooManyProblems();
      yield* composer.next(token);
    }
  }
  try {
    let tokens = 0;
    const escapes = new QuoteEscapes();
    const stream = new JsonStream(text);
    for (const written of new Lexer().lex(text)) {
      const { lexeme, grownBy } = escapes.mend(written);
      if (++tokens > maxTokens)
        return report(parser.offset, `has more than ${maxTokens} YAML tokens (names, values, comments, line ends)`);
      if (stream.beginsObject(lexeme)) {
        yield* compose(parser.next(DOCUMENT_START));
        parser.offset -= DOCUMENT_START.length;
      }
      yield* compose(parser.next(lexeme));
      parser.offset -= grownBy; // so that later offsets refer to the original text
      // the parser's stack also contains the document and the last scalar, so allow 2 more than the depth
      if (parser.stack.length > MAX_DEPTH + 2)
        return report(parser.offset, `has lists and maps more than ${MAX_DEPTH} deep`);
    }
    yield* compose(parser.end());
    yield* composer.end();
  } catch (error) {
    if (!(error instanceof TooManyProblems)) throw error;
    for (const { pos, message } of composer.streamInfo().errors) report(pos[0], message);
  }
}

type OnError = (...args: unknown[]) => void;

/**
 * Returns a composer that stops after MAX_PROBLEMS errors: a malformed string might cause an error for every character, each with a stack
 * trace.
 */
function boundedComposer(): Composer {
  const composer = new Composer(OPTIONS);
  // the YAML library has no other hook for counting errors
  const internals = composer as unknown as { onError: OnError };
  const { onError } = internals;
  if (typeof onError !== 'function')
    throw new Error('this version of the package yaml reports errors in another way: they cannot be counted');
  let problems = 0;
  internals.onError = (...args) => {
    if (++problems > MAX_PROBLEMS) throw new TooManyProblems();
    onError(...args);
  };
  return composer;
}

/** Properties of a document needed before converting it to a plain value. */
export type DocumentShape = {
  /** Maps each alias to its target node. */
  targets: Map<Node, Node>;
  /** Duplicate keys in maps: path, offset, and offset of the previous occurrence. */
  duplicates: { path: FieldPath; offset: number; firstOffset: number }[];
  /** Why the document must not be converted, if applicable. */
  refusal: { offset: number; message: string } | undefined;
};

/** Finds a document's duplicate keys and alias targets, and computes its size with all aliases expanded, in a single pass. */
export function inspectDocument(document: Document.Parsed): DocumentShape {
  const walk = new DocumentWalk();
  const values = walk.visit(document.contents);
  const offset = document.range?.[0] ?? 0;
  if (walk.refusal === undefined && walk.anchorCount > MAX_ANCHORS)
    walk.refusal = { offset, message: `has more than ${MAX_ANCHORS} anchors and aliases` };
  if (walk.refusal === undefined && values > MAX_EXPANDED_VALUES)
    walk.refusal = {
      offset,
      message: `is too large after its aliases are expanded: more than ${MAX_EXPANDED_VALUES} values`,
    };
  return walk;
}

class DocumentWalk implements DocumentShape {
  readonly targets = new Map<Node, Node>();
  readonly duplicates: DocumentShape['duplicates'] = [];
  refusal: DocumentShape['refusal'];
  anchorCount = 0;
  /** Path of the YAML node being visited. */
  readonly #path: (string | number)[] = [];
  readonly #anchors = new Map<string, Node>();
  /** Number of values in each anchored node; absent while still being counted. */
  readonly #sizes = new Map<Node, number>();

  /** Returns the number of values in a YAML node with aliases expanded. */
  visit(node: unknown): number {
    if (isAlias(node)) return this.#alias(node);
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return 1;
    const { anchor } = node;
    if (anchor !== undefined) {
      this.anchorCount++;
      this.#anchors.set(anchor, node);
    }
    let size = 1;
    if (isScalar(node)) size += (node.source?.length ?? 0) >> 6;
    else if (isMap(node)) size += this.#map(node.items);
    else
      for (const [index, item] of node.items.entries())
        size += this.#below(index, () => (isPair(item) ? this.#map([item]) : this.visit(item)));
    if (anchor !== undefined) this.#sizes.set(node, size);
    return size;
  }

  #alias(node: Node & { source: string }): number {
    this.anchorCount++;
    const target = this.#anchors.get(node.source);
    if (target === undefined) return 1;
    this.targets.set(node, target);
    const size = this.#sizes.get(target);
    if (size === undefined)
      this.refusal ??= { offset: node.range?.[0] ?? 0, message: `alias *${node.source} is inside its own anchor` };
    return size ?? 1;
  }

  #map(items: readonly { key: unknown; value: unknown }[]): number {
    const seen = new Map<string, number>();
    let size = 0;
    for (const { key, value } of items) {
      const name = isMergeKey(key) ? undefined : keyName(key);
      if (name !== undefined) {
        const offset = (key as Node).range?.[0] ?? 0;
        const firstOffset = seen.get(name);
        seen.set(name, offset);
        if (firstOffset !== undefined && this.duplicates.length < MAX_PROBLEMS)
          this.duplicates.push({ path: [...this.#path, name], offset, firstOffset });
      }
      size += this.visit(key) + this.#below(name ?? '', () => this.visit(value));
    }
    return size;
  }

  #below(step: string | number, visit: () => number): number {
    this.#path.push(step);
    const size = visit();
    this.#path.pop();
    return size;
  }
}

/** Whether a key is `<<`, which merges maps into the enclosing map. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.value === '<<';
}

/** Returns the name of a map key; `undefined` if the key is null or not a scalar. */
export function keyName(key: unknown): string | undefined {
  if (!isScalar(key) || typeof key.value !== 'string') return undefined;
  return key.type === 'PLAIN' && key.tag === undefined ? plainKey(key.value) : key.value;
}
