import type { ApiObject } from '../api-object.ts';
import type { FieldError } from '../field-error.ts';
import { hasInvalidSelectorValues, validateLabelSelector } from '../labels.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { deprecatedNodeLabel, expressionWarnings } from '../node-selector.ts';
import { immutable, nonNegativeQuantity, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { textAt, textEntriesAt } from '../values.ts';

function validate(object: ApiObject, old?: ApiObject): FieldError[] {
  const className = textAt(object, 'storageClassName');
  const allowInvalidValues = old !== undefined && hasInvalidSelectorValues(old.nodeTopology);
  const capacity = textAt(object, 'capacity');
  return [
    ...validateLabelSelector('nodeTopology', object.nodeTopology, { allowInvalidValues }),
    ...problemsAt('storageClassName', className, dns1123SubdomainProblems(className)),
    ...(capacity === '' ? [] : nonNegativeQuantity('capacity', capacity)),
  ];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object, old),
  ...['nodeTopology', 'storageClassName'].flatMap((name) => immutable(name, object[name], old[name])),
];

function warnings({ nodeTopology }: ApiObject): string[] {
  const labels = textEntriesAt(nodeTopology, 'matchLabels').flatMap(([label]) => {
    const message = deprecatedNodeLabel(label);
    return message === undefined ? [] : [`nodeTopology.matchLabels.${label}: ${message}`];
  });
  return [...expressionWarnings('nodeTopology', nodeTopology), ...labels];
}

export const CSI_STORAGE_CAPACITY: Strategy = {
  validate: (object) => validate(object),
  validateUpdate,
  warnings,
  allowUnconditionalUpdate: false,
};
