import {
  type LabelRequirement,
  matchesLabels,
  methodNotAllowed,
  notFound,
  pageNotFound,
  parseLabelSelector,
  parseMetadataSelector,
} from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { includeObjectOf } from '../wire/encode-table.ts';
import { listParameters } from '../wire/list-options.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import type { ResourceEncoding } from '../wire/response-content.ts';
import type { ComputedResource } from './computed-resource.ts';
import type { AuthorizedRequest } from './server-parts.ts';

/** Responds to a request for computed objects. Throws `ApiError`. */
export async function respondComputed(request: AuthorizedRequest, computed: ComputedResource): Promise<void> {
  const { exchange, writer, info } = request;
  const { resource } = computed;
  const isOne = info.parts.length === 2;
  if (info.parts.length > 2 || (isOne && resource.namespaced !== info.isBelowNamespace)) throw pageNotFound();
  if (!resource.namespaced && info.isBelowNamespace) throw pageNotFound();
  if (info.verb !== (isOne ? 'get' : 'list')) throw methodNotAllowed();
  exchange.isCustom = true; // there is no protobuf for these kinds
  const encoding = encodingOf(request, resource);
  const { labelSelector, fieldSelector } = listParameters(exchange.query, { isWatch: false });
  const labels: LabelRequirement[] = isOne ? [] : parseLabelSelector(labelSelector);
  const isSelected = isOne ? isNamed(info.name) : parseMetadataSelector(fieldSelector);
  const isAsked = (metadata: ApiObject['metadata']) => isSelected(metadata) && matchesLabels(labels, metadata.labels);
  const objects = await computed.list({ namespace: info.namespace, isAsked, signal: exchange.signal });
  if (!isOne) return writer.list({ revision: 0, objects }, encoding);
  const [object] = objects;
  if (object === undefined) throw notFound(resource, info.name);
  await writer.object(200, object, encoding);
}

const isNamed =
  (name: string) =>
  (metadata: ApiObject['metadata']): boolean =>
    metadata.name === name;

function encodingOf({ exchange, parts }: AuthorizedRequest, resource: Resource): ResourceEncoding {
  const format = negotiateObject(exchange);
  const includeObject = format.convertTo?.kind === 'Table' ? includeObjectOf(exchange.query) : 'Metadata';
  return { format, schema: parts.schema, resource, includeObject, nowMs: parts.now() };
}
