/** Certificate requests (RFC 2986), limited to what signers and admission need. Their signatures are verified when they are stored. */
import { errorCode } from '@podwright/base';
import { type DerValue, readAll, readObjectIdentifier, TAG } from '@podwright/certificates/der';
import { OID } from '@podwright/certificates/x509';
import { pemBlocks } from '@podwright/kube-kinds';

export type RequestSubject = { commonName: string; organizations: string[] };

/** A name in the requested subjectAltName extension. */
export type RequestedName = { type: 'email' | 'dns' | 'uri' | 'ip'; encoded: Buffer };

export type CertificateRequest = {
  subject: RequestSubject;
  /** The requester's public key, as DER-encoded SubjectPublicKeyInfo. */
  publicKey: Buffer;
  names: RequestedName[];
};

/**
 * Tags of the string types accepted in a subject: UTF8String, NumericString, PrintableString and IA5String. Other types are rejected,
 * because signers might decode them differently.
 */
const TEXT_TAGS: readonly number[] = [TAG.utf8String, 0x12, TAG.printableString, 0x16];
const NAME_TYPES: Readonly<Record<number, RequestedName['type']>> = { 129: 'email', 130: 'dns', 134: 'uri', 135: 'ip' };
const MAX_BYTES = 64 << 10;
const IS_CONSTRUCTED = 0x20;

/** Parses the `spec.request` field of a CertificateSigningRequest. Returns `undefined` if it does not contain an acceptable request. */
export function readCertificateRequest(field: string): CertificateRequest | undefined {
  // uses the first PEM block, because that is the one whose signature was verified
  const [block] = pemBlocks(Buffer.from(field.slice(0, 2 * MAX_BYTES), 'base64').toString('latin1'));
  if (block?.type !== 'CERTIFICATE REQUEST') return undefined;
  try {
    return requestIn(block.bytes);
  } catch (error) {
    if (errorCode(error) === 'invalid_argument') return undefined; // not DER
    throw error;
  }
}

function requestIn(bytes: Buffer): CertificateRequest | undefined {
  const [request] = readAll(bytes);
  const [info] = partsOf(request);
  const [, name, publicKey, attributes] = partsOf(info);
  const subject = name && subjectOf(name);
  const names = namesIn(attributes);
  if (subject === undefined || publicKey === undefined || names === undefined) return undefined;
  return { subject, publicKey: publicKey.whole, names };
}

/** Returns the elements of a constructed DER value such as a SEQUENCE; none for primitive values. */
const partsOf = (value: DerValue | undefined): DerValue[] =>
  value !== undefined && (value.tag & IS_CONSTRUCTED) !== 0 ? readAll(value.content) : [];

const isOf = (type: DerValue | undefined, identifier: string): boolean =>
  type?.tag === TAG.objectIdentifier && readObjectIdentifier(type) === identifier;

/**
 * Returns the subject of a request; `undefined` if one of its values is not acceptable text. If there are several common names, the last
 * one counts, as in authentication.
 */
function subjectOf(name: DerValue): RequestSubject | undefined {
  const subject: RequestSubject = { commonName: '', organizations: [] };
  for (const attribute of partsOf(name).flatMap(partsOf)) {
    const [type, value] = partsOf(attribute);
    const text = value && textOf(value);
    if (text === undefined) return undefined;
    if (isOf(type, OID.commonName)) subject.commonName = text;
    else if (isOf(type, OID.organization)) subject.organizations.push(text);
  }
  return subject;
}

/** Returns a value's text, or `undefined` if its encoding is unsupported or if other programs might interpret the text differently. */
function textOf({ tag, content }: DerValue): string | undefined {
  const text = content.toString();
  const isPlain = TEXT_TAGS.includes(tag) && Buffer.from(text).equals(content) && !/\p{Cc}/u.test(text);
  return isPlain ? text : undefined;
}

/** Returns the names in the requested subjectAltName extension, or `undefined` if one of them is invalid. */
function namesIn(attributes: DerValue | undefined): RequestedName[] | undefined {
  const requested = partsOf(attributes)
    .map(partsOf)
    .filter(([type]) => isOf(type, OID.extensionRequest));
  const extensions = requested.flatMap(([, set]) => partsOf(set).flatMap(partsOf)).map(partsOf);
  const [first, ...others] = extensions.filter(([type]) => isOf(type, OID.alternativeName));
  if (others.length > 0) return undefined;
  const value = first?.at(-1);
  if (value === undefined) return [];
  const [list] = readAll(value.content);
  const known = partsOf(list).filter(({ tag }) => Object.hasOwn(NAME_TYPES, tag));
  return known.every(isValidName)
    ? known.map(({ tag, whole }) => ({ type: NAME_TYPES[tag]!, encoded: whole }))
    : undefined;
}

const isValidName = ({ tag, content }: DerValue): boolean =>
  NAME_TYPES[tag] === 'ip' ? [4, 16].includes(content.length) : /^[!-~]+$/.test(content.toString('latin1'));
