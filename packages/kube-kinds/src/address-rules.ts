/** Validates IP addresses and CIDR blocks in fields (apimachinery, util/validation/ip.go), with strict validation enabled, as in 1.36. */
import { type Cidr, type IpAddress, parseCidr, parseIp } from './addresses.ts';
import { type FieldError, invalidValue } from './field-error.ts';

const NO_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NO_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** Validates an IP address (IsValidIPForLegacyField). Values in `old` are accepted even if invalid. */
export function validateLegacyIp(field: string, value: string, old: readonly string[] = []): FieldError[] {
  if (old.includes(value)) return [];
  const ip = parseIp(value);
  return ip === undefined ? [invalidValue(field, value, NO_IP)] : strictIpErrors(field, value, ip);
}

/** Validates an IP address, requiring canonical form (IsValidIP). */
export function validateCanonicalIp(field: string, value: string): FieldError[] {
  const errors = validateLegacyIp(field, value);
  const text = parseIp(value)?.text;
  if (errors.length > 0 || text === value) return errors;
  return [invalidValue(field, value, `must be in canonical form (${JSON.stringify(text)})`)];
}

function strictIpErrors(field: string, value: string, ip: IpAddress): FieldError[] {
  const errors = ip.hasLeadingZeros ? [invalidValue(field, value, 'must not have leading 0s')] : [];
  // upstream's second parser fails on leading zeros, so it does not recognize such an address as IPv4-mapped
  if (ip.isMapped && !ip.hasLeadingZeros)
    errors.push(invalidValue(field, value, 'must not be an IPv4-mapped IPv6 address'));
  return errors;
}

/** Validates a CIDR block (IsValidCIDRForLegacyField). Values in `old` are accepted even if invalid. */
export function validateLegacyCidr(field: string, value: string, old: readonly string[] = []): FieldError[] {
  if (old.includes(value)) return [];
  const cidr = parseCidr(value);
  const problem = cidr === undefined ? NO_CIDR : strictCidrProblem(cidr);
  return problem === undefined ? [] : [invalidValue(field, value, problem)];
}

/** Validates a CIDR block, requiring canonical form (IsValidCIDR). */
export function validateCanonicalCidr(field: string, value: string): FieldError[] {
  const errors = validateLegacyCidr(field, value);
  const text = parseCidr(value)?.text;
  if (errors.length > 0 || text === value) return errors;
  return [invalidValue(field, value, `must be in canonical form (${JSON.stringify(text)})`)];
}

function strictCidrProblem(cidr: Cidr): string | undefined {
  if (cidr.hasLeadingZeros) return 'must not have leading 0s in IP or prefix length';
  if (cidr.address.isMapped) return 'must not have an IPv4-mapped IPv6 address';
  return cidr.hasHostBits ? 'must not have bits set beyond the prefix length' : undefined;
}

/** Returns warnings about a valid IP address that is not canonical (GetWarningsForIP). */
export function ipWarnings(field: string, value: string): string[] {
  const ip = parseIp(value);
  if (ip === undefined || ip.text === value) return [];
  const shown = JSON.stringify(value);
  const canonical = JSON.stringify(ip.text);
  if (ip.hasLeadingZeros || ip.isMapped)
    return [`${field}: non-standard IP address ${shown} is invalid: use ${canonical}`];
  return [`${field}: IPv6 address ${shown} should be in RFC 5952 canonical format (${canonical})`];
}

/** Returns warnings about a valid CIDR block that is ambiguous or not canonical (GetWarningsForCIDR). */
export function cidrWarnings(field: string, value: string): string[] {
  const cidr = parseCidr(value);
  if (cidr === undefined) return [];
  const { address, text } = cidr;
  const shown = JSON.stringify(value);
  const canonical = JSON.stringify(text);
  const single = JSON.stringify(`${address.text}/${address.family === 'IPv4' ? 32 : 128}`);
  const warnings = cidr.hasHostBits
    ? [`${field}: CIDR value ${shown} is ambiguous in this context (should be ${canonical} or ${single}?)`]
    : [];
  if (cidr.hasLeadingZeros || address.isMapped)
    warnings.push(`${field}: non-standard CIDR value ${shown} is invalid: use ${canonical}`);
  else if (warnings.length === 0 && text !== value)
    warnings.push(`${field}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format (${canonical})`);
  return warnings;
}
