/** The compiled rules of a schema (apiextensions-apiserver, apiserver/schema/cel/compilation.go). */
import {
  CompileError,
  celTypes,
  compile,
  kubernetesFunctions,
  type Program,
  type SchemaValues,
  schemaValues,
} from '@podwright/cel';
import type { JsonSchema } from '../json-schema.ts';
import { ruleFieldPath } from './field-paths.ts';

/** A rule of a definition (apiextensions v1, ValidationRule). */
export type ValidationRule = {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

export type CompiledRule = {
  readonly rule: ValidationRule;
  /** The compiled rule; undefined if the rule is empty or does not compile. */
  readonly program: Program | undefined;
  readonly problem: string | undefined;
  readonly message: Program | undefined;
  readonly messageProblem: string | undefined;
  readonly usesOldSelf: boolean;
  /** The field that the error for a violated rule refers to, relative to the validated value; '' for the value itself. */
  readonly fieldPath: string;
};

/** The rules of a schema and its subschemas. Exists only if any of them has rules. */
export type RuleNode = {
  readonly schema: JsonSchema;
  readonly values: SchemaValues | undefined;
  readonly rules: readonly CompiledRule[];
  readonly items: RuleNode | undefined;
  readonly more: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
};

type Functions = ReturnType<typeof kubernetesFunctions>;

export const rulesOf = (schema: JsonSchema): readonly ValidationRule[] =>
  (schema['x-kubernetes-validations'] ?? []) as readonly ValidationRule[];

/** Compiles the rules of a schema and its subschemas; `undefined` if there are none. */
export function ruleTree(schema: JsonSchema, isResource = true): RuleNode | undefined {
  return nodeOf(schema, { isResource, functions: kubernetesFunctions() });
}

function nodeOf(
  schema: JsonSchema,
  { isResource, functions }: { isResource: boolean; functions: Functions },
): RuleNode | undefined {
  const { items, properties = {}, additionalProperties: more } = schema;
  const within = (one: JsonSchema | boolean | undefined) =>
    typeof one === 'object' && one !== null
      ? nodeOf(one, { isResource: one['x-kubernetes-embedded-resource'] === true, functions })
      : undefined;
  const parts = { items: within(items), more: within(more), properties: new Map<string, RuleNode>() };
  for (const [name, property] of Object.entries(properties)) {
    const node = within(property);
    if (node !== undefined) parts.properties.set(name, node);
  }
  const rules = rulesOf(schema);
  const hasParts = parts.items !== undefined || parts.more !== undefined || parts.properties.size > 0;
  if (rules.length === 0 && !hasParts) return undefined;
  const values = rules.length === 0 ? undefined : schemaValues(schema, { isResource });
  const compiled = rules.map((rule) => compiledRule(rule, { schema, values, functions }));
  return { schema, values, rules: compiled, ...parts };
}

type Context = { schema: JsonSchema; values: SchemaValues | undefined; functions: Functions };

function compiledRule(rule: ValidationRule, { schema, values, functions }: Context): CompiledRule {
  const { rule: text = '', messageExpression = '', fieldPath = '', optionalOldSelf } = rule;
  const nothing = { program: undefined, problem: undefined, message: undefined, messageProblem: undefined };
  const plain = { rule, ...nothing, usesOldSelf: false, fieldPath: ruleFieldPath(fieldPath, schema) ?? '' };
  if (values === undefined || text.trim() === '') return plain;
  const oldSelf = optionalOldSelf === true ? celTypes.optionalOf(values.type) : values.type;
  const environment = { functions, variables: { self: values.type, oldSelf } };
  const compileAs = (expression: string, kind: string, words: { prefix: string; must: string }) => {
    const outcome = attempt(() => compile(expression, environment));
    if (typeof outcome === 'string') return { problem: `${words.prefix}compilation failed: ${outcome}` };
    return outcome.type.kind === kind ? { program: outcome } : { problem: words.must };
  };
  const compiled = compileAs(text, 'bool', { prefix: '', must: 'cel expression must evaluate to a bool' });
  const usesOldSelf = compiled.program?.names.has('oldSelf') ?? false;
  const own = { ...plain, usesOldSelf, program: compiled.program, problem: compiled.problem };
  if (messageExpression === '' || compiled.program === undefined) return own;
  const message = compileAs(messageExpression, 'string', {
    ...{ prefix: 'messageExpression ', must: 'messageExpression must evaluate to a string' },
  });
  return { ...own, message: message.program, messageProblem: message.problem };
}

function attempt(run: () => Program): Program | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
}
