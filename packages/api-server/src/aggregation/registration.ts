/** The group versions of extension API servers, as registered by APIServices. */
import { type ApiObject, booleanAt, numberAt, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';

export const API_SERVICES = 'apiservices.apiregistration.k8s.io';

const HTTPS_PORT = 443;

/** A group version of an extension API server, as registered by an APIService that refers to a Service. */
export type Registration = {
  /** The name of the APIService that registers the group version. */
  name: string;
  group: string;
  version: string;
  service: { namespace: string; name: string; port: number };
  /** CA certificates trusted for the server's certificate, PEM. If '', Node.js's default CAs are trusted. */
  authorities: string;
  /** Whether to skip verification of the server's certificate. */
  skipsVerification: boolean;
  priority: { group: number; version: number };
};

export type GroupVersionName = { group: string; version: string };

/** Returns an APIService's registration; `undefined` if the APIService is local. */
export function registrationOf(object: ApiObject): Registration | undefined {
  const spec = objectAt(object, 'spec');
  const service = objectAt(spec, 'service');
  if (service === undefined) return undefined;
  return {
    name: object.metadata.name ?? '',
    group: textAt(spec, 'group'),
    version: textAt(spec, 'version'),
    service: {
      namespace: textAt(service, 'namespace'),
      name: textAt(service, 'name'),
      port: numberAt(service, 'port') ?? HTTPS_PORT,
    },
    authorities: Buffer.from(textAt(spec, 'caBundle'), 'base64').toString(),
    skipsVerification: booleanAt(spec, 'insecureSkipTLSVerify'),
    priority: {
      group: numberAt(spec, 'groupPriorityMinimum') ?? 0,
      version: numberAt(spec, 'versionPriority') ?? 0,
    },
  };
}

/** Whether the `Available` condition of an APIService is true. */
export const isAvailable = (object: ApiObject): boolean =>
  objectsAt(object, 'status', 'conditions').some(
    (one) => textAt(one, 'type') === 'Available' && textAt(one, 'status') === 'True',
  );
