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
import { JsonStream } from './json-stream.ts';
import { QuoteEscapes } from './yaml-escapes.ts';
import { type PlainValue, plainKey, plainValue } from './yaml-scalars.ts';

/** Names, values, signs, comments and line ends of one text. A megabyte in one block of text is a single one. */
const MAX_TOKENS = 200_000;
/** Lists and maps inside each other. Kubernetes' own types need less than 20. */
const MAX_DEPTH = 100;
/** Anchors and aliases of a document: each alias is looked for among all of them. */
const MAX_ANCHORS = 2000;
/** Values of a document once each alias stands for what it names; 64 characters of text count as one more. */
const MAX_EXPANDED_VALUES = 300_000;
const MAX_PROBLEMS = 1000;

/** Reports what is wrong at an offset of the text. */
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

/** The types that a value may be marked with. What has no mark is text to the library; `yaml-documents.ts` gives it its meaning. */
const SCALAR_TAGS = [
  scalarTag('null', (value) => value === null),
  scalarTag('bool', (value) => typeof value === 'boolean'),
  scalarTag('int', Number.isInteger),
  scalarTag('float', (value) => typeof value === 'number'),
];

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  prettyErrors: false,
  logLevel: 'silent',
  // a %YAML 1.1 line brings no types of its own
  schema: 'failsafe',
  resolveKnownTags: false,
  stringKeys: true,
  // the library compares each key with all others; `inspectDocument` does it in linear time
  uniqueKeys: false,
  customTags: (tags: Tags) => [...tags, ...SCALAR_TAGS],
};

const DOCUMENT_START = '---';

class TooManyProblems extends Error {}

/** Parses the documents of a text one by one, and stops where it is too large, too deep or too broken to go on. */
export function* composeDocuments(text: string, report: Report): Generator<Document.Parsed> {
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
      if (++tokens > MAX_TOKENS)
        return report(parser.offset, `has more than ${MAX_TOKENS} YAML tokens (names, values, comments, line ends)`);
      if (stream.beginsObject(lexeme)) {
        yield* compose(parser.next(DOCUMENT_START));
        parser.offset -= DOCUMENT_START.length;
      }
      yield* compose(parser.next(lexeme));
      parser.offset -= grownBy; // what follows has its place in the text as it was written
      // the document itself is on the stack too, and the scalar that was read last
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

/** A broken string may give an error a character, each with a stack trace: after many the composer is stopped. */
function boundedComposer(): Composer {
  const composer = new Composer(OPTIONS);
  // the library has no other place to count them
  const internals = composer as unknown as { onError: OnError };
  const { onError } = internals;
  if (typeof onError !== 'function')
    throw new Error('this version of the package yaml reports errors otherwise: they cannot be counted');
  let problems = 0;
  internals.onError = (...args) => {
    if (++problems > MAX_PROBLEMS) throw new TooManyProblems();
    onError(...args);
  };
  return composer;
}

/** What is to be known of a document before it becomes a plain value. */
export type DocumentShape = {
  /** What each alias stands for. */
  targets: Map<Node, Node>;
  /** Keys that a map has twice, the later ones, and where the one before is. */
  duplicates: { key: string; offset: number; firstOffset: number }[];
  /** Why it must not become a plain value. */
  refusal: { offset: number; message: string } | undefined;
};

/** Walks once through a document: its duplicate keys, its aliases, and how large it is when they are put in place. */
export function inspectDocument(document: Document.Parsed): DocumentShape {
  const walk = new DocumentWalk();
  const values = walk.visit(document.contents);
  const offset = document.range?.[0] ?? 0;
  if (walk.refusal === undefined && walk.anchorCount > MAX_ANCHORS)
    walk.refusal = { offset, message: `has more than ${MAX_ANCHORS} anchors and aliases` };
  if (walk.refusal === undefined && values > MAX_EXPANDED_VALUES)
    walk.refusal = {
      offset,
      message: `is too large with its aliases put in place: more than ${MAX_EXPANDED_VALUES} values`,
    };
  return walk;
}

class DocumentWalk implements DocumentShape {
  readonly targets = new Map<Node, Node>();
  readonly duplicates: DocumentShape['duplicates'] = [];
  refusal: DocumentShape['refusal'];
  anchorCount = 0;
  readonly #anchors = new Map<string, Node>();
  /** Values in what an anchor names; nothing while it is being counted. */
  readonly #sizes = new Map<Node, number>();

  /** How many values there are in a node, aliases expanded. */
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
    else for (const item of node.items) size += isPair(item) ? this.#map([item]) : this.visit(item);
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
      this.refusal ??= { offset: node.range?.[0] ?? 0, message: `alias *${node.source} stands inside what it names` };
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
          this.duplicates.push({ key: name, offset, firstOffset });
      }
      size += this.visit(key) + this.visit(value);
    }
    return size;
  }
}

/** True for `<<`, whose value are maps that belong to the map around it. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.value === '<<';
}

/** The name of a key; `undefined` for null and for what is no scalar. */
export function keyName(key: unknown): string | undefined {
  if (!isScalar(key) || typeof key.value !== 'string') return undefined;
  return key.type === 'PLAIN' && key.tag === undefined ? plainKey(key.value) : key.value;
}
