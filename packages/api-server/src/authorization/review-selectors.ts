/** Field selectors in access reviews. Selectors that cannot be evaluated are ignored, which makes the review cover a broader request. */
import { type JsonObject, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';

const RAW_TERM = /^[^=!]+(?:!=|==?)(?:\\[\\,=]|[^\\,=])*$/;

/** Returns the field selector in the format of the `fieldSelector` request parameter. */
export function fieldSelectorOf(attributes: unknown): string {
  const requirements = objectsAt(attributes, 'fieldSelector', 'requirements');
  if (requirements.length > 0) return requirements.flatMap((one) => termOf(one) ?? []).join(',');
  const raw = textAt(attributes, 'fieldSelector', 'rawSelector');
  return isRawSelector(raw) ? raw : '';
}

/** Returns a message about ignored selectors, or '' if there are none. */
export function selectorErrors(spec: unknown): string {
  const requirements = objectsAt(spec, 'resourceAttributes', 'fieldSelector', 'requirements');
  const raw = textAt(spec, 'resourceAttributes', 'fieldSelector', 'rawSelector');
  const ignored = requirements.filter((one) => termOf(one) === undefined).length;
  if (ignored === 0 && (requirements.length > 0 || isRawSelector(raw))) return '';
  const isPartial = ignored < requirements.length;
  return `spec.resourceAttributes.fieldSelector ${isPartial ? 'partially ' : ''}ignored due to parse error`;
}

/** Converts a requirement to a field selector term. Returns `undefined` if field selectors do not support the operator or the values. */
function termOf(requirement: JsonObject): string | undefined {
  const operator = { In: '=', NotIn: '!=' }[textAt(requirement, 'operator')];
  const [value, ...others] = textsAt(requirement, 'values');
  if (operator === undefined || value === undefined || others.length > 0) return undefined;
  return `${textAt(requirement, 'key')}${operator}${value.replace(/[\\,=]/g, '\\$&')}`;
}

const isRawSelector = (raw: string): boolean =>
  (raw.match(/(?:\\.|[^,\\])+/gs) ?? []).every((term) => RAW_TERM.test(term));
