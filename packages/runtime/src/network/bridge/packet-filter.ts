import type { HostRuleset } from './host-ruleset.ts';
import type { PortRule } from './port-rules.ts';

/** One way to have the default network's rules in the kernel: `NftFilter`, or `IptablesFilter` where that does not work. */
export interface PacketFilter {
  /** Makes all rules what they should be, whatever was there. */
  replace(ruleset: HostRuleset, ports: PortRule[]): Promise<void>;
  /** Gets from some published ports to others; fails where the rules are not what `replace` and `change` made of them. */
  change(ruleset: HostRuleset, before: PortRule[], after: PortRule[]): Promise<void>;
  /** Whether it is certain that nobody has touched the rules since. */
  intact(): Promise<boolean>;
  /** Removes every rule of ours. No error where there is none. */
  remove(ruleset: HostRuleset): Promise<void>;
}
