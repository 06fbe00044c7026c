import { PodwrightError } from '@podwright/base';

/** What a template of a network configuration may have filled in. */
export type TemplateValues = { podCidrs: string[]; mtu: number; nonMasqueradeCidr: string };

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/**
 * A network configuration from its template: `{{.PodCIDR}}` is the pod's first subnet, `{{.PodCIDRRanges}}` all of them as
 * `ranges` of the plugin host-local, `{{.MTU}}` and `{{.NonMasqueradeCIDR}}` are the settings'. Nothing while subnets are asked
 * for and none are known. Throws `invalid_argument` for another placeholder.
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
