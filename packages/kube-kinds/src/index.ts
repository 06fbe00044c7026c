export { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './access/mandatory-flows.ts';
export { pemBlocks } from './access/pem-blocks.ts';
export { type Cidr, cidrContains, formatIp, type IpAddress, parseCidr, parseIp } from './addresses.ts';
export { CONVERSIONS, STRATEGIES } from './all-kinds.ts';
export type { ApiObject } from './api-object.ts';
export { type ChosenFamilies, chooseIpFamilies } from './core/service-families.ts';
export {
  duplicate,
  type FieldError,
  type FieldErrorReason,
  fieldNotFound,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from './field-error.ts';
export {
  type LabelRequirement,
  matchesRequirements,
  matchesSelector,
  selectorRequirements,
  validateLabelSelector,
  validateLabels,
} from './labels.ts';
export {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  type NameRule,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  qualifiedNameProblems,
} from './names.ts';
export type {
  Conversion,
  Conversions,
  CreateContext,
  ScaleStrategy,
  Strategies,
  Strategy,
  SubresourceStrategy,
} from './strategy.ts';
export { MASTERS, type UserInfo } from './user-info.ts';
export {
  booleanAt,
  isSameValue,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
  valueAt,
  withItems,
  withValue,
} from './values.ts';
