/** Serves OpenAPI documents (kube-openapi, pkg/handler and pkg/handler3). */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { BUILD, VERSION } from '@podwright/base';
import { apiVersionOf, type JsonObject, type Resource, type Schema } from '@podwright/kube-schema';
import { accepts, parseAccept } from '../accept.ts';
import type { ExtensionVersion } from '../discovery/group-versions.ts';
import { notModified, type PathRequest, type PathResponse, taggedHeaders, unknownPath } from '../http-answer.ts';
import type { DocumentForm } from './build-document.ts';
import { DocumentCache } from './document-cache.ts';

export type OpenApiOptions = {
  schema: Schema;
  /** The resources that the server implements. */
  resources: readonly Resource[];
  /** The group versions of extension API servers. Default: none. */
  extensions?: readonly ExtensionVersion[] | undefined;
  /** The server's version, such as v1.36.0. */
  version: string;
};

type Document = {
  key: string;
  form: DocumentForm;
  resources: readonly Resource[];
  /** Parts of extension API servers' documents to merge into the OpenAPI v2 document. */
  others?: readonly JsonObject[];
  contentType: string;
  hash: string;
};

const decompress = promisify(gunzip);

const JSON_TYPE = 'application/json';
const PROTOBUF_V2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** Media types that clients can request for OpenAPI v2, each with the form of the document and the media type of the response. */
const V2_FORMS: readonly (readonly [string, DocumentForm, string])[] = [
  [JSON_TYPE, 'v2 json', JSON_TYPE],
  ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', 'v2 protobuf', PROTOBUF_V2],
  [PROTOBUF_V2, 'v2 protobuf', PROTOBUF_V2],
];

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Serves OpenAPI documents. Immutable: the server creates a new instance when its resources change. */
export class OpenApi {
  readonly #options: OpenApiOptions;
  /** The server's resources whose kinds are in the schema. */
  readonly #resources: readonly Resource[];
  /** Resources by group version path, such as `apis/apps/v1`. */
  readonly #groupVersions: ReadonlyMap<string, readonly Resource[]>;
  readonly #cache = new DocumentCache();

  constructor(options: OpenApiOptions) {
    const { schema, resources } = options;
    this.#options = options;
    this.#resources = resources.filter(({ group, version, plural }) => schema.resource(group, version, plural));
    this.#groupVersions = Map.groupBy(this.#resources, pathOf);
  }

  readonly paths: readonly string[] = ['/openapi/v2', '/openapi/v3'];

  /** Returns `undefined` for paths outside `/openapi`. */
  async respond(request: PathRequest): Promise<PathResponse | undefined> {
    const { path } = request;
    if (path === '/openapi/v2') return this.#v2(request);
    if (path === '/openapi/v3' || path === '/openapi/v3/') return this.#index(request);
    const prefix = '/openapi/v3/';
    return path.startsWith(prefix) ? this.#v3(request, path.slice(prefix.length)) : undefined;
  }

  /** Returns the index of the OpenAPI v3 documents. It contains a hash of each document, which clients use as a cache key. */
  #index(request: PathRequest): PathResponse {
    const urls = new Map([...this.#groupVersions].map(([path, of]) => [path, urlOf(path, this.#hash(of))]));
    const { extensions = [] } = this.#options;
    for (const { openApiUrl, openApiGroupUrl, ...one } of extensions) {
      if (openApiUrl === undefined) urls.delete(pathOf(one));
      else urls.set(pathOf(one), openApiUrl);
      if (openApiGroupUrl !== undefined) urls.set(`apis/${one.group}`, openApiGroupUrl);
    }
    const hash = combined(
      this.#hash(this.#resources),
      extensions.map(({ openApiUrl, openApiGroupUrl }) => `${openApiUrl} ${openApiGroupUrl}`),
    );
    const headers = { ...taggedHeaders(hash), 'content-type': JSON_TYPE };
    const entries = [...urls].sort(([a], [b]) => (a < b ? -1 : 1));
    const paths = entries.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }]);
    const body = JSON.stringify({ paths: Object.fromEntries(paths) });
    return notModified(request, hash) ?? { status: 200, headers, body };
  }

  async #v2(request: PathRequest): Promise<PathResponse> {
    const resources = this.#resources;
    const extensions = (this.#options.extensions ?? []).flatMap(({ openApiV2 }) => openApiV2 ?? []);
    const others = extensions.map(({ document }) => document);
    for (const clause of parseAccept(request.header('accept'))) {
      const [, form, contentType] = V2_FORMS.find(([mediaType]) => accepts(clause, mediaType)) ?? [];
      if (form === undefined || contentType === undefined) continue;
      const hash = combined(
        this.#hash(resources),
        extensions.map((one) => one.hash),
      );
      return this.#document(request, { key: form, form, resources, others, contentType, hash });
    }
    return NOT_ACCEPTABLE;
  }

  async #v3(request: PathRequest, path: string): Promise<PathResponse> {
    const resources = this.#groupVersions.get(path);
    if (resources === undefined) return unknownPath();
    if (!parseAccept(request.header('accept')).some((clause) => accepts(clause, JSON_TYPE))) return NOT_ACCEPTABLE;
    const hash = this.#hash(resources);
    const requested = request.query.get('hash') ?? '';
    if (requested !== '' && requested !== hash)
      return { status: 301, headers: { location: urlOf(path, hash), vary: 'Accept' }, body: '' };
    const form: DocumentForm = 'v3 json';
    const document = await this.#document(request, { key: path, form, resources, contentType: JSON_TYPE, hash });
    return requested === '' ? document : { ...document, headers: { ...document.headers, ...forever() } };
  }

  async #document(request: PathRequest, document: Document): Promise<PathResponse> {
    const { hash, key, contentType } = document;
    const known = notModified(request, hash);
    if (known !== undefined) return known;
    const bytes = await this.#cache.get(key, () => this.#build(document));
    const isCompressed = /\bgzip\b/.test(request.header('accept-encoding'));
    const headers = { ...taggedHeaders(hash), 'content-type': contentType, vary: 'Accept, Accept-Encoding' };
    if (!isCompressed) return { status: 200, headers, body: await decompress(bytes) };
    return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: bytes };
  }

  async #build({ form, resources, others }: Document): Promise<Uint8Array> {
    const { buildDocument } = await import('./build-document.ts');
    const { schema, version } = this.#options;
    return buildDocument(schema, resources, { form, version, others });
  }

  /** Returns a hash of everything that affects a document's content, so that the index does not require building the documents. */
  #hash(resources: readonly Resource[]): string {
    const { schema, version } = this.#options;
    const custom = resources.map((one) => (one.isCustom ? schema.kind(one)?.custom : undefined));
    const input = JSON.stringify([VERSION, BUILD, version, resources, custom]);
    return createHash('sha256').update(input).digest('hex').toUpperCase();
  }
}

const NOT_ACCEPTABLE: PathResponse = { status: 406, headers: { vary: 'Accept' }, body: '' };

/**
 * Hashes a document's hash together with `others`, further texts that the document depends on. Returns the hash unchanged if `others` is
 * empty.
 */
const combined = (hash: string, others: readonly string[]): string =>
  others.length === 0
    ? hash
    : createHash('sha256')
        .update(JSON.stringify([hash, others]))
        .digest('hex')
        .toUpperCase();

const pathOf = (resource: Pick<Resource, 'group' | 'version'>) =>
  `${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`;

const urlOf = (path: string, hash: string) => `/openapi/v3/${path}?hash=${hash}`;

/** Headers for a document whose URL contains its hash, so that clients can cache the document forever. */
const forever = () => ({
  'cache-control': 'public, immutable',
  expires: new Date(Date.now() + YEAR_MS).toUTCString(),
});
