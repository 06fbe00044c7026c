import { PodwrightError } from '@podwright/base';

/** Values for the placeholders in a network configuration template. */
export type TemplateValues = { podCidrs: string[]; mtu: number; nonMasqueradeCidr: string };

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/**
 * Renders a network configuration template. `{{.PodCIDR}}` is replaced by the node's first pod subnet, `{{.PodCIDRRanges}}` by all of them
 * in the format of host-local's `ranges`, and `{{.MTU}}` and `{{.NonMasqueradeCIDR}}` by the settings. Returns `undefined` if a subnet is
 * needed but none is known yet. Throws `invalid_argument` for any other placeholder.
 */
export function renderTemplate(
  template: string,
  { podCidrs, mtu, nonMasqueradeCidr }: TemplateValues,
): string | undefined {
  const known: Record<string, string | undefined> = {
    '.PodCIDR': podCidrs[0],
    '.PodCIDRRanges': podCidrs.length === 0 ? undefined : JSON.stringify(podCidrs.map((subnet) => [{ subnet }])),
    '.MTU': String(mtu),
    '.NonMasqueradeCIDR': nonMasqueradeCidr,
  };
  let isComplete = true;
  const text = template.replace(PLACEHOLDER, (_, name: string) => {
    if (!Object.hasOwn(known, name))
      throw new PodwrightError('invalid_argument', `'{{${name}}}' is unknown: use ${Object.keys(known).join(', ')}`);
    const value = known[name];
    if (value === undefined) isComplete = false;
    return value ?? '';
  });
  return isComplete ? text : undefined;
}
