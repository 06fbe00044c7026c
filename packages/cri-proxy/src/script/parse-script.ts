import { didYouMean, type ErrorCode, errorCodeOfStatus, PodwrightError } from '@podwright/base';
import { isSeq, type Node } from 'yaml';
import { matchesPattern } from '../methods/pattern.ts';
import type { Effects, Rule, Script } from './script.ts';
import { ScriptFields, ScriptText } from './script-fields.ts';

/** Maximum length of a script in characters. It may have at most `MAX_RULES` rules. */
const MAX_LENGTH = 1 << 20;
const MAX_RULES = 1000;
/** Default for `within`, in milliseconds: how long responses to be reordered wait for others. */
const USUAL_WITHIN_MS = 1000;

const RULE_FIELDS =
  'method pod container skip count probability delay jitter delayAnswer fail cut repeat reorder within'.split(' ');
const CODES: readonly ErrorCode[] = Array.from({ length: 16 }, (_, index) => errorCodeOfStatus(index + 1));

/**
 * Parses a script. `methods` are the methods that rules may refer to, and `name` is the file name for errors. Throws `invalid_argument`
 * with `name` and the line number for malformed YAML, unknown fields or methods, and invalid values.
 */
export function parseScript(source: string, { name, methods }: { name: string; methods: Iterable<string> }): Script {
  if (source.length > MAX_LENGTH)
    throw new PodwrightError('invalid_argument', `${name}: the script is longer than ${MAX_LENGTH} characters`);
  const text = new ScriptText(source, name);
  const fields = new ScriptFields(text.contents, text, { known: ['seed', 'rules'] });
  const rules = fields.node('rules');
  if (!isSeq(rules)) return text.fail(rules ?? text.contents, 'a list of rules is needed: "rules:"');
  if (rules.items.length > MAX_RULES) text.fail(rules, `more than ${MAX_RULES} rules`);
  const names = new Set(methods);
  return {
    seed: fields.number('seed', { maximum: 2 ** 32 - 1 }),
    rules: rules.items.map((item) => readRule(item as Node, text, names)),
  };
}

function readRule(node: Node, text: ScriptText, names: ReadonlySet<string>): Rule {
  const fields = new ScriptFields(node, text, { known: RULE_FIELDS });
  const method = fields.text('method') ?? text.fail(node, 'the rule has no "method"');
  if (![...names].some((one) => matchesPattern(method, one)))
    fields.fail('method', `${JSON.stringify(method)} is not a method of the CRI${didYouMean(method, names)}`);
  const effects = readEffects(fields, text);
  const rule: Rule = {
    line: text.lineOf(node),
    method,
    pod: fields.text('pod'),
    container: fields.text('container'),
    skip: fields.number('skip') ?? 0,
    count: fields.number('count', { minimum: 1 }) ?? Number.POSITIVE_INFINITY,
    probability: fields.number('probability', { maximum: 1, isWhole: false }) ?? 1,
    effects,
  };
  if (!hasEffect(effects))
    text.fail(node, 'the rule changes nothing: delay, jitter, delayAnswer, fail, cut, repeat or reorder is needed');
  return rule;
}

function readEffects(fields: ScriptFields, text: ScriptText): Effects {
  const size = fields.number('reorder', { minimum: 2, maximum: 1000 });
  return {
    delayMs: fields.duration('delay') ?? 0,
    jitterMs: fields.duration('jitter') ?? 0,
    fail: readFail(fields.node('fail'), text),
    cut: readCut(fields.node('cut'), text),
    repeat: fields.number('repeat', { minimum: 1, maximum: 1000 }) ?? 0,
    reorder: size === undefined ? undefined : { size, withinMs: fields.duration('within') ?? USUAL_WITHIN_MS },
    delayAnswerMs: fields.duration('delayAnswer') ?? 0,
  };
}

const hasEffect = ({ delayMs, jitterMs, fail, cut, repeat, reorder, delayAnswerMs }: Effects) =>
  delayMs > 0 || jitterMs > 0 || delayAnswerMs > 0 || repeat > 0 || (fail ?? cut ?? reorder) !== undefined;

/** Parses `fail: unavailable` or `fail: {code, message, when}`. */
function readFail(node: Node | null | undefined, text: ScriptText): Effects['fail'] {
  if (node === undefined) return undefined;
  const fields = new ScriptFields(node, text, { known: ['code', 'message', 'when'], short: 'code' });
  return {
    code: fields.choice('code', CODES) ?? 'unavailable',
    message: fields.text('message') ?? 'injected by the script of the CRI proxy',
    when: fields.choice('when', ['before', 'after'] as const) ?? 'before',
  };
}

/** Parses `cut: call`, `cut: connection` or `cut: {what, afterMessages}`. */
function readCut(node: Node | null | undefined, text: ScriptText): Effects['cut'] {
  if (node === undefined) return undefined;
  const fields = new ScriptFields(node, text, { known: ['what', 'afterMessages'], short: 'what' });
  const what = fields.choice('what', ['call', 'connection'] as const) ?? 'call';
  return { what, afterMessages: fields.number('afterMessages') };
}
