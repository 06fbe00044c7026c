import { errorMessage, isNotFound } from '@podwright/base';
import { absentObject } from '@podwright/kube-api';

type Wanted = { kind: string; namespace: string; name: string };
type Listed = { metadata: { namespace: string; name: string } };

/** A Kubernetes API server's message for a missing object: `pods "web" not found`. */
const ABSENT = /^[\w.-]+ "[^"]*" not found$/;

/**
 * Rethrows the error. If a Kubernetes API server did not find the object, first appends a hint to the error's message: the namespaces that
 * have an object of this name, or else a similar name. The API of a standalone node already includes this hint.
 */
export async function explainAbsent(error: unknown, wanted: Wanted, list: () => Promise<Listed[]>): Promise<never> {
  if (!isNotFound(error) || !ABSENT.test(errorMessage(error))) throw error;
  throw absentObject(wanted, await list().catch(() => []));
}
