import { parseFieldsV1 } from '@podwright/kube-schema';

export const NO_FIELDS = parseFieldsV1({});

/** Fields that no field manager owns. */
export const SYSTEM_FIELDS = parseFieldsV1({
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:clusterName': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
  },
});
