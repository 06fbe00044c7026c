import { parseCidr, parseIp } from '../addresses.ts';
import { type FieldError, invalidValue } from '../field-error.ts';

/** Validates an interface address in canonical form: an IP address with its network's prefix length (IsValidInterfaceAddress). */
export function validateInterfaceAddress(field: string, value: string): FieldError[] {
  const cidr = parseCidr(value);
  const form = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';
  if (cidr === undefined) return [invalidValue(field, value, form)];
  const address = parseIp(value.slice(0, value.indexOf('/')))!;
  const canonical = `${address.text}/${cidr.prefixLength}`;
  return value === canonical
    ? []
    : [invalidValue(field, value, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
