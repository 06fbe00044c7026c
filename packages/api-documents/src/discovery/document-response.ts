/** Encodes discovery documents in the media type that the client accepts. */
import { createHash } from 'node:crypto';
import { ApiError } from '@podwright/api-machinery';
import { encodeObject, type JsonObject, PROTOBUF_MEDIA_TYPE, type Schema } from '@podwright/kube-schema';
import { type AcceptClause, accepts, parseAccept } from '../accept.ts';
import { notModified, type PathRequest, type PathResponse, taggedHeaders } from '../http-answer.ts';
import { type AggregatedVersion, isAggregatedVersion } from './aggregated-discovery.ts';

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

const MEDIA_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_MEDIA_TYPE];

type Choice = { mediaType: string; isPretty: boolean };

/** Encodes a document in a media type that the request accepts. Throws a 406 error if there is none. */
export async function documentResponse(
  schema: Schema,
  request: PathRequest,
  document: JsonObject,
): Promise<PathResponse> {
  const choice = choose(request, ({ params }) => !('as' in params || 'g' in params || 'v' in params));
  if (choice === undefined) throw noRepresentation();
  return {
    status: 200,
    headers: { 'content-type': choice.mediaType },
    body: await encode(schema, document, choice),
  };
}

/**
 * Returns the version of aggregated discovery that the request accepts, or `undefined` if it only accepts unaggregated documents. A clause
 * for aggregated discovery takes precedence even over clauses with a higher quality.
 */
export function acceptedAggregation(request: PathRequest): AggregatedVersion | undefined {
  const clause = parseAccept(request.header('accept')).find((one) => isAggregation(one) && mediaTypeOf(one));
  return clause?.params.v as AggregatedVersion | undefined;
}

/** Responds with the aggregated document and an ETag, so that clients can skip downloading an unchanged document. */
export async function aggregatedResponse(
  schema: Schema,
  request: PathRequest,
  document: JsonObject,
): Promise<PathResponse> {
  const hash = createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase();
  const headers = { ...taggedHeaders(hash), 'cache-control': 'public' };
  const known = notModified(request, hash);
  if (known !== undefined) return { ...known, headers };
  const choice = choose(request, isAggregation)!;
  const [group, version] = String(document.apiVersion).split('/');
  const contentType = `${choice.mediaType};g=${group};v=${version};as=${document.kind}`;
  return {
    status: 200,
    headers: { ...headers, 'content-type': contentType },
    body: await encode(schema, document, choice),
  };
}

/** Responds with indented JSON, regardless of what the request accepts. */
export const indentedJson = (document: JsonObject): PathResponse => ({
  status: 200,
  headers: { 'content-type': JSON_TYPE },
  body: JSON.stringify(document, null, 2),
});

const isAggregation = ({ params }: AcceptClause) =>
  params.g === 'apidiscovery.k8s.io' && params.as === 'APIGroupDiscoveryList' && isAggregatedVersion(params.v);

const mediaTypeOf = (clause: AcceptClause) => MEDIA_TYPES.find((mediaType) => accepts(clause, mediaType));

function choose(request: PathRequest, isAllowed: (clause: AcceptClause) => boolean): Choice | undefined {
  for (const clause of parseAccept(request.header('accept'))) {
    const mediaType = isAllowed(clause) && !clause.params.stream ? mediaTypeOf(clause) : undefined;
    if (mediaType) return { mediaType, isPretty: clause.params.pretty === '1' || isForPeople(request) };
  }
  return undefined;
}

/**
 * Whether to indent the JSON, according to the `pretty` parameter. Defaults to `true` for curl, Wget and browsers, which show the response
 * to users.
 */
function isForPeople({ query, header }: PathRequest): boolean {
  const pretty = query.get('pretty') ?? '';
  if (pretty !== '') return /^(?:1|t|true)$/i.test(pretty);
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(header('user-agent'));
}

async function encode(schema: Schema, document: JsonObject, { mediaType, isPretty }: Choice) {
  if (mediaType === PROTOBUF_MEDIA_TYPE) return encodeObject(schema, { apiVersion: 'v1', ...document });
  if (mediaType === JSON_TYPE) return isPretty ? JSON.stringify(document, null, 2) : `${JSON.stringify(document)}\n`;
  const { stringify } = await import('yaml');
  return stringify(document, { indentSeq: false, lineWidth: 0, sortMapEntries: true, aliasDuplicateObjects: false });
}

const noRepresentation = () =>
  new ApiError(406, 'NotAcceptable', {
    message: `406: Not Acceptable\n\nAvailable representations: ${MEDIA_TYPES.join(', ')}`,
    details: {},
  });
