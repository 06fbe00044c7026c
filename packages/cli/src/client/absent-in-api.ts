import { errorMessage, isNotFound } from '@podwright/base';
import { absentObject } from '@podwright/kube-api';

type Wanted = { kind: string; namespace: string; name: string };
type Listed = { metadata: { namespace: string; name: string } };

/** Matches the message of a Kubernetes API about a missing object: `pods "web" not found`. */
const ABSENT = /^[\w.-]+ "[^"]*" not found$/;

/**
 * Rejects with an error that also names the namespaces with such an object, or a similar name, if a Kubernetes API does not have the object.
 * The local API of a node names them itself.
 */
export async function explainAbsent(error: unknown, wanted: Wanted, list: () => Promise<Listed[]>): Promise<never> {
  if (!isNotFound(error) || !ABSENT.test(errorMessage(error))) throw error;
  throw absentObject(wanted, await list().catch(() => []));
}
