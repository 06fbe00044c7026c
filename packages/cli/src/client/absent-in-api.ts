import { errorMessage, isNotFound } from '@podwright/base';
import { absentObject } from '@podwright/kube-api';

type Wanted = { kind: string; namespace: string; name: string };
type Listed = { metadata: { namespace: string; name: string } };

/** A Kubernetes API server's message for a missing object: `pods "web" not found`. */
const ABSENT = /^[\w.-]+ "[^"]*" not found$/;

/**
 * Rethrows the error. If a Kubernetes API does not have the object, adds the namespaces that have an object with this name, or a similar
 * name. A node's local API adds these itself.
 */
export async function explainAbsent(error: unknown, wanted: Wanted, list: () => Promise<Listed[]>): Promise<never> {
  if (!isNotFound(error) || !ABSENT.test(errorMessage(error))) throw error;
  throw absentObject(wanted, await list().catch(() => []));
}
