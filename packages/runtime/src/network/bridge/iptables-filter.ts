import { bothVersions, type HostRuleset, iptablesChains } from './host-ruleset.ts';
import { Iptables } from './iptables.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { PortRule } from './port-rules.ts';

/** Implements the rules as iptables chains, for kernels without full nf_tables support. */
export class IptablesFilter implements PacketFilter {
  async replace({ bridge, subnets }: HostRuleset, ports: PortRule[]): Promise<void> {
    for (const subnet of subnets) {
      const iptables = new Iptables(subnet.family);
      await iptables.restore(iptablesChains(bridge, subnet, ports), await iptables.save());
    }
  }

  async change(ruleset: HostRuleset, _before: PortRule[], after: PortRule[]): Promise<void> {
    await this.replace(ruleset, after);
  }

  /** Always returns false, so that the rules are replaced: checking them would have to run the same programs as replacing them. */
  async intact(): Promise<boolean> {
    return false;
  }

  /** Removes the rules of both IP families, because the configured subnets might have changed since the rules were created. */
  async remove({ bridge }: HostRuleset): Promise<void> {
    const removals = bothVersions.map(async (subnet) => {
      const iptables = new Iptables(subnet.family);
      await iptables.remove(iptablesChains(bridge, subnet, []), await iptables.save());
    });
    for (const removal of await Promise.allSettled(removals)) if (removal.status === 'rejected') throw removal.reason;
  }
}
