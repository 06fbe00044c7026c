import { PodwrightError } from '@podwright/base';
import { allContainers, type Pod, quantityValue } from '@podwright/kube-api';

const RESOURCE = 'hugepages-';
const MEDIUM = 'HugePages-';

/**
 * Returns the hugetlbfs option for a medium: the page size named by it or, for `HugePages`, the only size requested by the pod's
 * containers. Throws `failed_precondition` if the containers do not request the named size, or request several sizes with `HugePages`.
 */
export function hugePagesOptions(medium: string, pod: Pod): string {
  const requested = allContainers(pod.spec)
    .flatMap(({ resources }) => [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})])
    .filter((name) => name.startsWith(RESOURCE))
    .map((name) => name.slice(RESOURCE.length));
  const sizes = new Map(requested.map((text) => [quantityValue(text), text]));
  if (medium.startsWith(MEDIUM)) {
    const named = sizes.get(quantityValue(medium.slice(MEDIUM.length)));
    return pageSize(medium, named);
  }
  if (sizes.size > 1)
    throw new PodwrightError(
      'failed_precondition',
      `medium: ${medium} can't be used if container requests multiple huge page sizes`,
    );
  return pageSize(medium, [...sizes.values()][0]);
}

function pageSize(medium: string, size: string | undefined): string {
  if (size !== undefined) return `pagesize=${size}`;
  throw new PodwrightError(
    'failed_precondition',
    `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
  );
}
