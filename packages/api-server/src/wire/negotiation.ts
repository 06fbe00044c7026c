import { type AcceptClause, accepts, parseAccept } from '@podwright/api-documents';
import { noRepresentation, notAcceptable } from '@podwright/api-machinery';
import { PROTOBUF_MEDIA_TYPE } from '@podwright/kube-schema';
import { type HttpExchange, headerOf } from './http-exchange.ts';
import { CUSTOM_MEDIA_TYPES, MEDIA_TYPES, mediaTypeOf, type ObjectMediaType } from './media-type.ts';

/** The kind that the Accept header requests for an object or list, such as Table or PartialObjectMetadata. */
export type Conversion = {
  kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  version: 'v1' | 'v1beta1';
};

/** The negotiated encoding of a response. */
export type OutputFormat = {
  mediaType: ObjectMediaType;
  isPretty: boolean;
  convertTo?: Conversion;
};

/** User agents of interactive clients, which receive indented JSON. */
const HUMAN_CLIENTS = /^(?:curl|Wget|Mozilla\/5\.0)/;
const KINDS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const VERSIONS = ['v1', 'v1beta1'];

/** The media types supported for watches. YAML is excluded because it has no framing. */
const STREAM_MEDIA_TYPES = MEDIA_TYPES.filter((type) => type !== 'application/yaml');

/**
 * Throws 406, as upstream's URL router does before a request is handled, unless the Accept header contains one of the media types or a
 * wildcard for all of them. Parameters and quality values are ignored.
 */
export function checkAccept({ request }: Pick<HttpExchange, 'request'>, { isList }: { isList: boolean }): void {
  const accept = headerOf(request, 'accept');
  const sent = accept.split(',').map(mediaTypeOf);
  if (accept === '' || sent.some((one) => one === '*/*' || MEDIA_TYPES.some((type) => type === one))) return;
  const streams = STREAM_MEDIA_TYPES.map((type) => `${type};stream=watch`);
  throw noRepresentation([...MEDIA_TYPES, ...(isList ? streams : [])]);
}

type Negotiated = Pick<HttpExchange, 'request' | 'query' | 'isCustom'>;

/** Negotiates the response format of an object or list from the Accept header. Throws 406 if none of the accepted formats is supported. */
export function negotiateObject(exchange: Negotiated): OutputFormat {
  const format = negotiate(exchange, { conversions: true, isCustom: exchange.isCustom });
  if (format === undefined) throw notAcceptable(exchange.isCustom ? CUSTOM_MEDIA_TYPES : MEDIA_TYPES);
  return format;
}

/** Negotiates the format of watch events. Throws 406 if none of the accepted formats is supported. */
export function negotiateWatch(exchange: Negotiated): OutputFormat {
  const format = negotiateObject(exchange);
  if (format.mediaType === 'application/yaml')
    throw notAcceptable(STREAM_MEDIA_TYPES.map((type) => `${type};stream=watch`));
  return { ...format, isPretty: false };
}

/**
 * Negotiates the format of an error or other Status, which is never converted. Returns `undefined` if none of the accepted formats is
 * supported.
 */
export const negotiateStatus = (exchange: Negotiated): OutputFormat | undefined =>
  negotiate(exchange, { conversions: false });

function negotiate(
  exchange: Negotiated,
  { conversions, isCustom = false }: { conversions: boolean; isCustom?: boolean },
): OutputFormat | undefined {
  const accept = headerOf(exchange.request, 'accept');
  const isPretty = prefersPretty(exchange);
  if (accept === '') return { mediaType: MEDIA_TYPES[0], isPretty };
  for (const clause of parseAccept(accept))
    for (const mediaType of MEDIA_TYPES) {
      const convertTo = accepts(clause, mediaType) ? conversionOf(clause, mediaType) : 'none';
      if (convertTo === 'none' || (convertTo !== undefined && !conversions)) continue;
      if (isCustom && convertTo === undefined && mediaType === PROTOBUF_MEDIA_TYPE) continue;
      return { mediaType, isPretty: isPretty || clause.params.pretty === '1', convertTo };
    }
  return undefined;
}

/**
 * Returns the conversion requested by an Accept clause: `undefined` for no conversion, or `none` if the server cannot satisfy the clause's
 * parameters with this media type.
 */
function conversionOf({ params }: AcceptClause, mediaType: ObjectMediaType): Conversion | undefined | 'none' {
  const { stream, sv = '', as: kind, g: group, v: version } = params;
  if (stream && (stream !== 'watch' || mediaType === 'application/yaml')) return 'none';
  if (!['', 'v1'].includes(sv)) return 'none';
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  if (group !== 'meta.k8s.io' || !VERSIONS.includes(version ?? '') || !KINDS.includes(kind ?? '')) return 'none';
  if (mediaType === PROTOBUF_MEDIA_TYPE && (kind === 'Table' || version !== 'v1')) return 'none';
  return { kind, version } as Conversion;
}

function prefersPretty({ request, query }: Negotiated): boolean {
  const sent = query.get('pretty');
  if (sent) return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(sent);
  return HUMAN_CLIENTS.test(headerOf(request, 'user-agent'));
}

/** Whether the client accepts a gzipped response. */
export const acceptsGzip = ({ request }: Pick<HttpExchange, 'request'>): boolean =>
  headerOf(request, 'accept-encoding')
    .split(',')
    .some((token) => token.trim() === 'gzip');
