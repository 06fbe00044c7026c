import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { numberAt, textAt, valueAt } from '../values.ts';
import { requires, type SourceRule, secretRef } from './source-rules.ts';

export const cloudDisk =
  (name: string): SourceRule =>
  (field, source) => {
    const partition = numberAt(source, 'partition') ?? 0;
    const isValid = partition >= 0 && partition <= 255;
    const wrong = invalidValue(`${field}.partition`, partition, 'must be between 1 and 255, inclusive');
    return [...(textAt(source, name) === '' ? [required(`${field}.${name}`)] : []), ...(isValid ? [] : [wrong])];
  };

export const cinder: SourceRule = (field, source) => [
  ...requires('volumeID')(field, source, ''),
  ...secretRef(field, source, ['name', 'namespace']),
];

export const azureFile: SourceRule = (field, source) => [
  ...requires('secretName', 'shareName')(field, source, ''),
  ...(valueAt(source, 'secretNamespace') === '' ? [required(`${field}.secretNamespace`)] : []),
];

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export const azureDisk: SourceRule = (field, source) => {
  const oneOf = (name: string, supported: readonly string[]): FieldError[] => {
    const value = valueAt(source, name);
    const isValid = value === undefined || supported.includes(String(value));
    return isValid ? [] : [notSupported(`${field}.${name}`, value, supported)];
  };
  const kind = valueAt(source, 'kind');
  const uri = textAt(source, 'diskURI');
  const [prefix, form] = kind === 'Managed' ? ['/subscriptions/', MANAGED_URI] : ['https://', BLOB_URI];
  const isWrongUri = kind !== undefined && !uri.startsWith(prefix);
  return [
    ...requires('diskName', 'diskURI')(field, source, ''),
    ...oneOf('cachingMode', CACHING_MODES),
    ...oneOf('kind', DISK_KINDS),
    ...(isWrongUri ? [notSupported(`${field}.diskURI`, uri, [form])] : []),
  ];
};
