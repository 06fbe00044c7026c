import { badRequest, unroutedMediaType, unsupportedMediaType } from '@podwright/api-machinery';
import type { FieldValidation, Warn } from './field-validation.ts';
import { CUSTOM_PATCH_MEDIA_TYPES, mediaTypeOf, PATCH_MEDIA_TYPES, type PatchMediaType } from './media-type.ts';
import { BodySyntaxError, type ParsedBody, parseJsonBody, parseYamlBody, yamlStrictProblem } from './parsed-body.ts';
import type { SentBody } from './sent-body.ts';

/** A parsed patch body. */
export type PatchBody = {
  mediaType: PatchMediaType;
  patch: unknown;
  /**
   * Duplicate fields in the patch and unknown fields in JSON patch operations, worded as in upstream. The registry reports them together
   * with the patched object's problems.
   */
  problems: readonly string[];
};

/** Returns the patch type from the Content-Type header. Throws 415 for any other media type, including plain JSON. */
export function patchMediaType(contentType: string, isCustom = false): PatchMediaType {
  const sent = mediaTypeOf(contentType);
  const known = PATCH_MEDIA_TYPES.find((type) => type === sent);
  if (isCustom && (known === undefined || !CUSTOM_PATCH_MEDIA_TYPES.includes(known)))
    throw unsupportedMediaType(CUSTOM_PATCH_MEDIA_TYPES);
  if (known === undefined) throw unroutedMediaType();
  return known;
}

/** Parses a patch. Throws 400 with upstream's message if the patch is malformed. */
export function readPatch(
  body: SentBody,
  mediaType: PatchMediaType,
  validation: { fieldValidation: FieldValidation; warn: Warn },
): PatchBody {
  if (mediaType === 'application/apply-patch+yaml')
    return { mediaType, patch: readApply(body, validation), problems: [] };
  const prefix = mediaType === 'application/strategic-merge-patch+json' ? '' : 'error decoding patch: ';
  const parsed = Buffer.isBuffer(body) ? parsedOrBad(() => parseJsonBody(body.toString()), prefix) : body;
  const isOperations = mediaType === 'application/json-patch+json';
  const problems = [
    ...parsed.duplicates.map((path) => `duplicate field ${JSON.stringify(formatPath(path))}`),
    ...(isOperations ? unknownOperationFields(parsed.value) : []),
  ].map((problem) => (isOperations ? `json patch ${problem}` : problem));
  return { mediaType, patch: parsed.value, problems: validation.fieldValidation === 'Ignore' ? [] : problems };
}

function parsedOrBad(parse: () => ParsedBody, prefix: string): ParsedBody {
  try {
    return parse();
  } catch (error) {
    if (error instanceof BodySyntaxError) throw badRequest(`${prefix}${error.message}`);
    throw error;
  }
}

function readApply(
  body: SentBody,
  { fieldValidation, warn }: { fieldValidation: FieldValidation; warn: Warn },
): unknown {
  const { value, yamlProblems } = Buffer.isBuffer(body)
    ? parsedOrBad(() => parseYamlBody(body.toString()), 'error decoding YAML: error converting YAML to JSON: ')
    : body;
  const [problem] = yamlStrictProblem(yamlProblems);
  if (problem !== undefined && fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${problem}`);
  if (fieldValidation === 'Warn') for (const one of yamlProblems) warn(one);
  return value;
}

const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];
const MAX_PROBLEMS = 100;

function unknownOperationFields(operations: unknown): string[] {
  if (!Array.isArray(operations)) return [];
  const problems: string[] = [];
  for (const [index, operation] of operations.entries()) {
    if (typeof operation !== 'object' || operation === null || problems.length >= MAX_PROBLEMS) continue;
    const unknown = Object.keys(operation).filter((name) => !OPERATION_FIELDS.includes(name));
    problems.push(...unknown.map((name) => `unknown field ${JSON.stringify(`[${index}].${name}`)}`));
  }
  return problems.slice(0, MAX_PROBLEMS);
}

const formatPath = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
