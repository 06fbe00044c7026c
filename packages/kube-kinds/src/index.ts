export type { ApiObject } from './api-object.ts';
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
export type { Conversion, CreateContext, Strategies, Strategy, SubresourceStrategy } from './strategy.ts';
export type { UserInfo } from './user-info.ts';
