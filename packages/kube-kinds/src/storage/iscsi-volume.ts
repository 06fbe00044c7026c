import { type FieldError, invalidValue, required } from '../field-error.ts';
import { problemsAt } from '../rules.ts';
import { rangeProblems } from '../texts.ts';
import { booleanAt, type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';

const MAX_NAME = 64;
/**
 * Longer target names are rejected without matching them against the patterns below, which are not meant for long strings. Valid names have
 * at most 223 bytes.
 */
const MAX_TARGET_NAME = 4096;

/** Validates an iSCSI volume source. `volume` is the name of the PersistentVolume, or '' in a VolumeAttachment. */
export function validateIscsi(field: string, source: JsonObject, volume: string): FieldError[] {
  const portal = textAt(source, 'targetPortal');
  const initiator = valueAt(source, 'initiatorName');
  const isTooLong = initiator !== undefined && Buffer.byteLength(`${volume}:${portal}`) > MAX_NAME;
  const tooLong =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  const iqn = textAt(source, 'iqn');
  const lun = numberAt(source, 'lun') ?? 0;
  const secret = objectAt(source, 'secretRef');
  const hasAuthentication = booleanAt(source, 'chapAuthDiscovery') || booleanAt(source, 'chapAuthSession');
  return [
    ...(portal === '' ? [required(`${field}.targetPortal`)] : []),
    ...(isTooLong ? [invalidValue(`${field}.targetportal`, portal, tooLong)] : []),
    ...(iqn === '' ? [required(`${field}.iqn`)] : validateQualifiedName(`${field}.iqn`, iqn)),
    ...problemsAt(`${field}.lun`, lun, rangeProblems(lun, { min: 0, max: 255 })),
    ...(hasAuthentication && secret === undefined ? [required(`${field}.secretRef`)] : []),
    ...(secret !== undefined && textAt(secret, 'name') === '' ? [required(`${field}.secretRef.name`)] : []),
    ...(typeof initiator === 'string' ? validateQualifiedName(`${field}.initiatorname`, initiator) : []),
  ];
}

const PATTERNS = [/iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/, /^eui.[A-Za-z0-9]{16}$/, /^naa.[A-Za-z0-9]{32}$/];
const PREFIXES = ['iqn', 'eui', 'naa'];

/** Validates the iSCSI name of a target or initiator. */
function validateQualifiedName(field: string, name: string): FieldError[] {
  const pattern = PATTERNS[PREFIXES.findIndex((prefix) => name.startsWith(prefix))];
  const isValid = name.length <= MAX_TARGET_NAME && pattern?.test(name);
  return isValid ? [] : [invalidValue(field, name, 'must be valid format')];
}
