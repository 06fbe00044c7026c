/**
 * Measures Services with 1,000 of them: how soon a change takes effect in the kernel, in turns with upstream's kube-proxy if
 * PODWRIGHT_KUBERNETES_BIN (the directory of upstream's programs) is set, and how many queries the DNS server answers.
 */
import type { Bench } from './bench.ts';
import { measureDnsAnswers } from './dns-answers.ts';
import { ENDPOINTS_EACH, SERVICE_COUNT } from './service-objects.ts';
import { measureServiceRules } from './service-rules.ts';
import type { Table } from './tables.ts';

export async function measureServices(bench: Pick<Bench, 'sides'>): Promise<Table> {
  const [services, endpoints] = [SERVICE_COUNT, SERVICE_COUNT * ENDPOINTS_EACH].map((count) =>
    count.toLocaleString('en'),
  );
  const title = `${services} Services with ${endpoints} endpoints`;
  return { title, rows: [...(await measureServiceRules(bench)), ...(await measureDnsAnswers(bench))] };
}
