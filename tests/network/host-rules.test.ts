import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, HostFixture, type HostPod, type RulesStep } from './host.fixture.ts';

const publish = ({ name, ips }: HostPod, ...hostPorts: number[]): RulesStep => {
  const mappings = hostPorts.map((hostPort) => ({ protocol: 'tcp' as const, containerPort: 80, hostPort, hostIp: '' }));
  return { call: 'publish', sandboxId: `sandbox-${name}`, ports: { ips, mappings } };
};
const run = (script: string): RulesStep => ({ call: 'run', script });
const ensure: RulesStep = { call: 'ensure' };
const recheck: RulesStep = { call: 'recheck' };
const remove: RulesStep = { call: 'remove' };
const published: RulesStep = { call: 'published' };
const withdraw = ({ name }: HostPod): RulesStep => ({ call: 'withdraw', sandboxId: `sandbox-${name}` });

test('a host without a firewall gets one table, repeated calls do not change it, and no program is started', () => {
  using fixture = new HostFixture();
  const pod = fixture.pod('a');
  const { programs } = fixture.observedRules(ensure, publish(pod, 38131), recheck);
  assert.deepEqual(programs, []);
  const first = fixture.onHost('nft list ruleset');
  assert.match(first, /^table inet podwright_pwt0 {/);
  assert.equal(first.match(/^table/gm)?.length, 1);
  assert.match(first, /tcp \. 38131 comment "sandbox-a" : 10\.241\.41\.10 \. 80/);
  fixture.rules(ensure, ensure);
  assert.equal(fixture.onHost('nft list ruleset'), first);
  fixture.rules(remove, remove);
  assert.equal(fixture.filterRules().trim(), '');
  assert.deepEqual(fixture.rules(published), [[]]);
});

test('flushed or modified rules are restored along with the ports; unmodified rules are not rewritten', () => {
  using fixture = new HostFixture();
  const pod = fixture.pod('a');
  const list = run('nft list ruleset');
  const handle = run('nft -a list tables');
  const damage = [
    'nft flush ruleset',
    'nft flush table inet podwright_pwt0',
    'nft flush map inet podwright_pwt0 host_ports4',
    'nft insert rule inet podwright_pwt0 postrouting accept',
  ];
  const steps = damage.flatMap((script) => [run(script), recheck, list]);
  const results = fixture.rules(publish(pod, 38132), list, ...steps);
  const whole = results[1];
  assert.match(String(whole), /38132/);
  for (const [index, script] of damage.entries()) assert.equal(results[4 + 3 * index], whole, script);
  const [, , before, , , after] = fixture.rules(ensure, publish(pod, 38133), handle, recheck, recheck, handle);
  assert.equal(after, before);
});

test('a sysctl that was reset is set again', () => {
  using fixture = new HostFixture();
  const sysctl = 'net.ipv4.conf.pwt0.route_localnet';
  const reset = run(`sysctl -qw ${sysctl}=0`);
  const results = fixture.rules(publish(fixture.pod('a'), 38139), reset, recheck, run(`sysctl -n ${sysctl}`));
  assert.equal(results.at(-1), '1\n');
});

test('if a kill interrupts publishing a port, the next process publishes or withdraws it', async () => {
  using fixture = new HostFixture();
  const [first, pod] = [fixture.pod('a'), fixture.pod('b')];
  await fixture.serve(pod, 'tcp', 80);
  fixture.rules(publish(first, 38134));
  let kills = 0;
  while (fixture.killedRules(kills + 1, ensure, publish(pod, 38135)) === 'SIGKILL') {
    kills += 1;
    const [ids] = fixture.rules(published);
    const port = () => ask(fixture.outside.netns, 'tcp', fixture.addresses[4], 38135);
    fixture.rules(ensure);
    if ((ids as string[]).includes('sandbox-b')) assert.match(port(), /^b /);
    else assert.throws(port);
    fixture.rules(ensure, withdraw(pod));
    assert.throws(port);
    assert.match(fixture.onHost('nft list ruleset'), /38134/);
  }
  assert.ok(kills >= 3, `${kills} kills`);
});

test('if a kill interrupts withdrawing a port, the next process closes it', () => {
  using fixture = new HostFixture();
  const pod = fixture.pod('a');
  fixture.rules(publish(pod, 38136));
  let kills = 0;
  while (fixture.killedRules(kills + 1, ensure, withdraw(pod)) === 'SIGKILL') {
    kills += 1;
    fixture.rules(ensure, withdraw(pod));
    assert.doesNotMatch(fixture.onHost('nft list ruleset'), /38136/);
    fixture.rules(publish(pod, 38136));
  }
  assert.ok(kills >= 3, `${kills} kills`);
});

test('a hundred pods with three ports each have all of them, even after the rules were lost', () => {
  using fixture = new HostFixture();
  const pods = Array.from({ length: 100 }, (_, index) => ({
    name: `pod-${index}`,
    netns: '',
    ips: [`10.241.41.${index + 2}`, `fd00:241:41::${index + 2}`],
  }));
  const publications = pods.map((pod, index) => publish(pod, ...[0, 1, 2].map((more) => 20_000 + 3 * index + more)));
  const count = run(`nft list ruleset | grep -oE '(tcp|udp) \\. [0-9]+ comment' | wc -l`);
  const half = pods.filter((_, index) => index % 2 === 0).map(withdraw);
  const results = fixture.rules(...publications, count, run('nft flush ruleset'), recheck, count, ...half, count);
  assert.deepEqual([results[100], results[103], results.at(-1)], ['600\n', '600\n', '300\n']);
});

test('further subnets have their own rules', () => {
  using fixture = new HostFixture();
  fixture.onHost('iptables -P FORWARD DROP');
  fixture.rules(ensure, { call: 'setSubnets', subnets: '10.241.42.0/24' }, ensure);
  const rules = fixture.filterRules();
  assert.doesNotMatch(rules, /saddr 10\.241\.41\.0|-s 10\.241\.41\.0/);
  assert.match(rules, /ip saddr 10\.241\.42\.0\/24 .* masquerade/);
  assert.match(rules, /-A PODWRIGHT-pwt0 -s 10\.241\.42\.0\/24 -j ACCEPT/);
});

test('a firewall that drops forwarded packets is reported until it accepts the bridge', () => {
  using fixture = new HostFixture();
  const warnings: RulesStep = { call: 'warnings' };
  const chain = 'add chain inet theirs forward { type filter hook forward priority 0; policy drop; }';
  const steps = [run('nft add table inet theirs'), run(`nft '${chain}'`), warnings];
  const accept = [run('nft insert rule inet theirs forward iifname pwt0 accept'), warnings];
  const results = fixture.rules(warnings, ...steps, ...accept);
  assert.deepEqual([results[0], results.at(-1)], [[], []]);
  assert.match(
    String(results[3]),
    /table inet theirs, chain forward.*nft insert rule inet theirs forward iifname pwt0/,
  );
});

for (const kind of ['nft', 'legacy']) {
  test(`a host whose iptables (${kind}) drops forwarded packets gets rules that accept the subnets, also after they were lost`, () => {
    using fixture = new HostFixture();
    const filter = `iptables-${kind} -w -P FORWARD DROP; ip6tables-${kind} -w -A FORWARD -j REJECT`;
    fixture.onHost(filter);
    const save = `iptables-${kind}-save; ip6tables-${kind}-save`;
    const before = withoutCounters(fixture.onHost(save));
    const flush = run(`iptables-${kind} -F FORWARD`);
    const [, first, , , second, , third] = fixture.rules(
      ensure,
      run(save),
      flush,
      recheck,
      run(save),
      recheck,
      run(save),
    );
    const rules = withoutCounters(String(first));
    assert.match(rules, /-A PODWRIGHT-pwt0 -s 10\.241\.41\.0\/24 -j ACCEPT/);
    assert.match(rules, /-A FORWARD -j PODWRIGHT-pwt0\n-A FORWARD -j REJECT/);
    assert.equal(withoutCounters(String(second)), rules);
    assert.equal(withoutCounters(String(third)), rules);
    const { programs } = fixture.observedRules(ensure, recheck, recheck);
    if (kind === 'nft') assert.equal(programs.length, 4); // save and restore, once for each IP version
    fixture.rules(remove);
    assert.equal(withoutCounters(fixture.onHost(save)), before);
  });
}

test('iptables is used for everything if the kernel has no nf_tables, and all its rules are removed', () => {
  using fixture = new HostFixture('iptables');
  const pod = fixture.pod('a');
  const flush = run('iptables -t nat -F; iptables -F; ip6tables -t nat -F');
  const save = run('iptables-save; ip6tables-save');
  const [, first, , , second] = fixture.rules(publish(pod, 38137), save, flush, recheck, save).map(String);
  assert.equal(withoutCounters(second!), withoutCounters(first!));
  assert.equal(first!.match(/-A POSTROUTING -j PODWRIGHT-pwt0/g)?.length, 2);
  assert.match(first!, /-A PODWRIGHT-pwt0 -s 10\.241\.41\.0\/24 -j MASQUERADE/);
  assert.match(first!, /-A PODWRIGHT-pwt0 -s fd00:241:41::\/64 -j MASQUERADE/);
  assert.match(first!, /-A PODWRIGHT-IN-pwt0 -d 127\.0\.0\.0\/8 -i pwt0 .*DNAT -j DROP/);
  assert.match(first!, /--dport 38137 .*--comment "?sandbox-a"? -j DNAT --to-destination 10\.241\.41\.10:80/);
  assert.doesNotMatch(fixture.onHost('nft list tables'), /podwright/);
  fixture.rules(ensure, remove, remove);
  assert.doesNotMatch(fixture.filterRules(), /PODWRIGHT/i);
});

const withoutCounters = (text: string): string => text.replace(/^#.*$/gm, '').replace(/\[\d+:\d+\]/g, '');
