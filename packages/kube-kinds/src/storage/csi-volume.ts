import { type FieldError, required } from '../field-error.ts';
import { isDnsLabel, isDnsSubdomain } from '../rules.ts';
import { type JsonObject, objectAt, textAt } from '../values.ts';
import { validateDriverName } from './driver-name.ts';
import { requires, type SourceRule } from './source-rules.ts';

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

export const csi: SourceRule = (field, source) => [
  ...validateDriverName(`${field}.driver`, textAt(source, 'driver')),
  ...requires('volumeHandle')(field, source, ''),
  ...CSI_SECRETS.flatMap((name) => {
    const secret = objectAt(source, name);
    return secret === undefined ? [] : validateSecret(`${field}.${name}`, secret);
  }),
];

function validateSecret(field: string, secret: JsonObject): FieldError[] {
  const name = textAt(secret, 'name');
  const namespace = textAt(secret, 'namespace');
  return [
    ...(name === '' ? [required(`${field}.name`)] : isDnsSubdomain(`${field}.name`, name)),
    ...(namespace === '' ? [required(`${field}.namespace`)] : isDnsLabel(`${field}.namespace`, namespace)),
  ];
}
