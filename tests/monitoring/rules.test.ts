/** Debian's promtool validates the configuration and the alerts in `contrib`, and evaluates alerts for series defined here. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { readContrib } from './dashboard.fixture.ts';

const directory = mkdtempSync('/tmp/pw-rules-');
after(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const rules = file('alerts.yml', readContrib('prometheus/alerts.yml'));

test('promtool accepts the alerts and the configuration', async () => {
  assert.match(await runChecked('promtool', ['check', 'rules', rules]), /SUCCESS: \d+ rules found/);
  for (const name of ['kubelet-token', 'kubelet.crt', 'api-token', 'api-ca.crt']) file(name, '');
  const config = file('prometheus.yml', readContrib('prometheus/prometheus.yml'));
  assert.match(await runChecked('promtool', ['check', 'config', config]), /SUCCESS: \S+ is valid/);
});

type Expected = { exp_labels: Record<string, string>; exp_annotations: Record<string, string> };
type Case = {
  series: Record<string, string>;
  alertname: string;
  firing: Expected[];
  atMinutes: number;
  quietAt: number;
};

const NODE = { node: 'a', metrics_path: '/metrics' };
const labelText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');

/**
 * Returns a promtool test for an alert. Each series has a sample per minute, in promtool's notation. The alert must not fire at `quietAt`,
 * and must fire at `atMinutes`.
 */
function ruleTest({ series, alertname, firing, atMinutes, quietAt }: Case): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      { eval_time: `${quietAt}m`, alertname, exp_alerts: [] },
      { eval_time: `${atMinutes}m`, alertname, exp_alerts: firing },
    ],
  };
}

const container = { node: 'a', metrics_path: '/metrics/resource', namespace: 'shop', pod: 'web', container: 'main' };
const crashLoop: Case = {
  series: { [`container_start_time_seconds{${labelText(container)}}`]: '1x10 60 120 180 240x20' },
  ...{ alertname: 'PodwrightPodCrashLooping', quietAt: 10, atMinutes: 14 },
  firing: [
    {
      exp_labels: { severity: 'warning', ...container },
      exp_annotations: {
        summary: 'Container main of pod shop/web restarts again and again',
        action: 'podwright why web -n shop',
      },
    },
  ],
};

const disk = { node: 'a', metrics_path: '/metrics/cadvisor', id: '/' };
const fillingDisk: Case = {
  series: {
    [`container_fs_usage_bytes{${labelText(disk)}}`]: '500x60 501+2x120',
    [`container_fs_limit_bytes{${labelText(disk)}}`]: '1000x200',
  },
  ...{ alertname: 'PodwrightDiskPressureSoon', quietAt: 60, atMinutes: 150 },
  firing: [
    {
      exp_labels: { severity: 'warning', ...disk },
      exp_annotations: {
        summary: 'The disk of a will run short of space in about four hours; the node may then evict pods',
        action: 'On the node: podwright doctor; the panel "Written files and logs" shows which pods write',
      },
    },
  ],
};

const certificate: Case = {
  series: {
    [`kubelet_certificate_manager_client_ttl_seconds{${labelText(NODE)}}`]: '604860-60x10',
    [`kubelet_certificate_manager_server_ttl_seconds{${labelText(NODE)}}`]: '+Inf +Inf +Inf',
  },
  ...{ alertname: 'PodwrightCertificateExpires', quietAt: 1, atMinutes: 2 },
  firing: [
    {
      exp_labels: { severity: 'warning', ...NODE },
      exp_annotations: {
        summary: 'A certificate of a expires in 6d 23h 59m 0s, and was not renewed',
        action: 'kubectl get certificatesigningrequests; journalctl -u podwright',
      },
    },
  ],
};

for (const one of [crashLoop, fillingDisk, certificate])
  test(`${one.alertname} fires on the series that it is for, and not before`, async () => {
    const tests = { rule_files: [rules], evaluation_interval: '1m', tests: [ruleTest(one)] };
    await runChecked('promtool', ['test', 'rules', file(`${one.alertname}.yml`, JSON.stringify(tests))]);
  });
