/** Looks up the API resources of kinds in the server's discovery documents. */
import { isApiStatus, type KubeClient } from '@podwright/kube-client';

/** `VERSION` or `GROUP/VERSION`, limited to characters valid in groups and versions. */
const API_VERSION = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** The resources of a group version, as listed by discovery. Servers written in Go send an empty list as null. */
type ResourceList = { resources: { name: string; kind: string }[] | null };

/** Whether an `apiVersion` is safe to use in a request path. The API server does not validate it in owner references and autoscalers. */
export const isApiVersion = (text: string): boolean => API_VERSION.test(text);

/** Returns the request path of a group version. */
export const groupPath = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

/** Returns the plural name of the kind and whether it has the `scale` subresource, or undefined if the server does not serve the kind. */
export async function findKind(
  client: KubeClient,
  { apiVersion, kind }: { apiVersion: string; kind: string },
  signal: AbortSignal,
): Promise<{ plural: string; hasScale: boolean } | undefined> {
  if (!isApiVersion(apiVersion)) return undefined;
  try {
    const list = JSON.parse(await client.getText(groupPath(apiVersion), { signal })) as ResourceList;
    const resources = list.resources ?? [];
    const plural = resources.find((one) => one.kind === kind && !one.name.includes('/'))?.name;
    if (plural === undefined) return undefined;
    return { plural, hasScale: resources.some(({ name }) => name === `${plural}/scale`) };
  } catch (error) {
    if (isApiStatus(error, 404)) return undefined;
    throw error;
  }
}
