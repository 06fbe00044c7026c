import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import type { Explanation } from './explanation.ts';
import { whyPod } from './why-pod.ts';
import { whyService } from './why-service.ts';
import { whyWorkload } from './why-workload.ts';

/** Explains why a pod, a workload or a Service is or is not ready. */
export async function why(reader: ViewReader, resource: Resource, object: KubeObject): Promise<Explanation> {
  if (resource.kind === VIEWED.pods.kind) return await whyPod(reader, object as Pod);
  if (resource.kind === VIEWED.services.kind) return await whyService(reader, object);
  return await whyWorkload(reader, resource, object);
}
