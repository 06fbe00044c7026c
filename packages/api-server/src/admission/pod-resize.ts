import { groupResource, type ObjectStore } from '@podwright/api-machinery';
import { quantityMilliValue, quantityValue } from '@podwright/kube-api';
import { textAt } from '@podwright/kube-kinds';
import { type AdmissionPlugin, rejected } from './admission-plugin.ts';
import { formatAmount, podAmounts } from './resources/resource-amounts.ts';

/** Rejects a pod resize that exceeds the node's allocatable resources. */
export function podResizeValidator(store: ObjectStore): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    validate(attributes) {
      const { operation, resource, subresource, object } = attributes;
      const name = textAt(object, 'spec', 'nodeName');
      const isResize = operation === 'UPDATE' && groupResource(resource) === 'pods' && subresource === 'resize';
      if (!isResize || name === '') return;
      const node = store.get({ resource: 'nodes', namespace: '', name })?.decode();
      if (node === undefined) throw rejected(attributes, `node ${JSON.stringify(name)} not found`);
      const requests = podAmounts(object?.spec, 'requests');
      const problems = (['cpu', 'memory'] as const).flatMap((one) => {
        const value = one === 'cpu' ? quantityMilliValue : quantityValue;
        const requested = requests.get(one);
        const available = value(textAt(node, 'status', 'allocatable', one) || '0');
        const amount = requested === undefined ? 0n : value(formatAmount(requested));
        return amount > available ? [`${one}, requested: ${amount}, allocatable: ${available}`] : [];
      });
      if (problems.length === 0) return;
      const cause = `node didn't have enough allocatable resources: ${problems.join('; ')}`;
      throw rejected(attributes, cause, [{ reason: 'NodeCapacity' }]);
    },
  };
}
