/** The subject of a certificate request (RFC 2986). Only the DER elements that lead to it are parsed. */

export type RequestSubject = { commonName: string; organizations: string[] };

type DerValue = { tag: number; content: Buffer };

/** The first PEM block. */
const PEM = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END /;
const COMMON_NAME = Buffer.from([0x55, 0x04, 0x03]);
const ORGANIZATION = Buffer.from([0x55, 0x04, 0x0a]);
/**
 * UTF8String, NumericString, PrintableString and IA5String. Strings in other encodings are rejected, because signers might decode them
 * differently.
 */
const TEXT_TAGS = [0x0c, 0x12, 0x13, 0x16];
const MAX_BYTES = 64 << 10;

/**
 * Parses the `spec.request` field of a CertificateSigningRequest and returns the request's subject. Returns `undefined` if the field does
 * not hold a certificate request.
 */
export function readSubject(field: string): RequestSubject | undefined {
  const [, type, body] = PEM.exec(Buffer.from(field.slice(0, 2 * MAX_BYTES), 'base64').toString()) ?? [];
  if (type !== 'CERTIFICATE REQUEST' || body === undefined) return undefined;
  const [request] = valuesIn(Buffer.from(body, 'base64')) ?? [];
  const [info] = valuesIn(request?.content) ?? [];
  const [, name] = valuesIn(info?.content) ?? [];
  const sets = valuesIn(name?.content);
  return sets && subjectOf(sets);
}

function subjectOf(sets: readonly DerValue[]): RequestSubject | undefined {
  const subject: RequestSubject = { commonName: '', organizations: [] };
  for (const attribute of sets.flatMap(({ content }) => valuesIn(content) ?? [])) {
    const [type, value] = valuesIn(attribute.content) ?? [];
    if (type === undefined || value === undefined || !TEXT_TAGS.includes(value.tag)) return undefined;
    if (type.content.equals(COMMON_NAME)) subject.commonName = value.content.toString();
    else if (type.content.equals(ORGANIZATION)) subject.organizations.push(value.content.toString());
  }
  return subject;
}

/** Returns the DER values that a constructed value contains, or `undefined` if they are not valid DER. */
function valuesIn(buffer: Buffer | undefined): DerValue[] | undefined {
  const values: DerValue[] = [];
  for (let at = 0; buffer !== undefined && at < buffer.length; ) {
    const first = buffer[at + 1] ?? 0x80;
    const digits = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + digits;
    if (first === 0x80 || digits > 3 || start > buffer.length) return undefined;
    const length = digits === 0 ? first : buffer.readUIntBE(at + 2, digits);
    if (start + length > buffer.length) return undefined;
    values.push({ tag: buffer[at]!, content: buffer.subarray(start, start + length) });
    at = start + length;
  }
  return buffer && values;
}
