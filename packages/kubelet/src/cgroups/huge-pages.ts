import { parseQuantity } from '@podwright/kube-api';

/** Converts the page size in `hugepages-2Mi` or `hugepages-2048Ki` to the notation of cgroup file names: `2MB`. */
export function hugePageSize(resource: string): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let size = parseQuantity(resource.slice('hugepages-'.length)).nanos / 1_000_000_000n;
  let unit = 0;
  while (size > 0n && size % 1024n === 0n && unit < units.length - 1) {
    size /= 1024n;
    unit++;
  }
  return `${size}${units[unit]}`;
}
