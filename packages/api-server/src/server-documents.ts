import { ApiPaths, type ExtensionVersion, type FailedCheck, Health, type HealthChecks } from '@podwright/api-documents';
import type { Resource, Schema } from '@podwright/kube-schema';
import { ISSUER } from './access.ts';
import { openIdDocument } from './authentication/openid-documents.ts';
import type { SigningKey } from './authentication/signing-key.ts';
import type { CustomKinds } from './custom-kinds.ts';
import type { PathDocuments } from './server/server-parts.ts';

export type DocumentParts = {
  schema: Schema;
  /** The built-in resources that the server implements. */
  resources: readonly Resource[];
  custom: Pick<CustomKinds, 'resources' | 'onChange'>;
  /** Resources listed in discovery but not in OpenAPI, because their kinds are not in the schema. */
  computed: readonly Resource[];
  /** The group versions of extension API servers. */
  extensions: { readonly versions: readonly ExtensionVersion[]; onChange: (listener: () => void) => void };
  /** Host and port (HOST:PORT) at which clients reach the server. */
  serverAddress: string;
  checks: HealthChecks;
  /** Returns the text of the server's metrics, the body of `/metrics`. */
  metrics: () => Promise<string>;
  reportFailure: (failed: FailedCheck) => void;
  keys: { readonly all: readonly SigningKey[] };
};

const OPENID_PATHS = ['/.well-known/openid-configuration', '/openid/v1/jwks'];

/** Returns everything the server serves apart from API objects. */
export function serverDocuments({
  checks,
  reportFailure,
  keys,
  custom,
  extensions,
  ...parts
}: DocumentParts): PathDocuments {
  const health = new Health(checks, reportFailure);
  const open = () => {
    const resources = [...parts.resources, ...custom.resources];
    const { versions } = extensions;
    const computed = parts.computed.filter(({ group }) => versions.every((one) => one.group !== group));
    return new ApiPaths({ ...parts, resources, computed, extensions: versions, health, otherPaths: OPENID_PATHS });
  };
  let paths = open();
  const reopen = () => {
    paths = open();
  };
  custom.onChange(reopen);
  extensions.onChange(reopen);
  const { serverAddress: host } = parts;
  return {
    async respond(request) {
      const document = openIdDocument(request.path, { issuer: ISSUER, host, keys: keys.all });
      return document === undefined ? paths.respond(request) : { status: 200, ...document };
    },
    unknownResource: (group) => paths.unknownResource(group),
  };
}
