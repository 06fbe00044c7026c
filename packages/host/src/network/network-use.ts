/** Traffic counters of one of a pod's network interfaces, since the interface was created. */
export type InterfaceUse = {
  name: string;
  rxBytes: number;
  rxPackets: number;
  rxErrors: number;
  rxDropped: number;
  txBytes: number;
  txPackets: number;
  txErrors: number;
  txDropped: number;
};

/** Parses /proc/net/dev (proc_pid_net(5)): 8 columns of received traffic, then 8 of transmitted traffic. */
export function parseInterfaces(text: string): InterfaceUse[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([^:]+):\s*(.*)$/.exec(line);
    if (match === null) return [];
    const counts = match[2]!.trim().split(/\s+/).map(Number);
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0] = counts;
    const [txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = counts.slice(8);
    return [{ name: match[1]!, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped }];
  });
}
