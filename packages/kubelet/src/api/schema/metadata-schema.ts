import type { LocalObjectReference, ObjectMeta, OwnerReference } from '../types.ts';
import { boolean, type Decoder, int64, integer, list, mapOf, object, string } from './decoder.ts';

const ownerReference = object<OwnerReference>(
  { apiVersion: string, kind: string, name: string, uid: string, controller: boolean, blockOwnerDeletion: boolean },
  { required: ['apiVersion', 'kind', 'name', 'uid'] },
);

const BY_THE_API_SERVER = 'is kept by the API server only; leave it out';

/** meta/v1 ObjectMeta. */
export const objectMeta: Decoder<ObjectMeta> = object<ObjectMeta>(
  {
    name: string,
    namespace: string,
    uid: string,
    labels: mapOf(string),
    annotations: mapOf(string),
    creationTimestamp: string,
    deletionTimestamp: string,
    deletionGracePeriodSeconds: integer(0),
    generation: int64,
    resourceVersion: string,
    ownerReferences: list(ownerReference),
    finalizers: list(string),
  },
  {
    required: ['name'],
    refused: {
      generateName: 'needs an API server that makes up names; give metadata.name instead',
      managedFields: BY_THE_API_SERVER,
      selfLink: BY_THE_API_SERVER,
    },
  },
);

export const localObjectReference = object<LocalObjectReference>({ name: string }, { required: ['name'] });
