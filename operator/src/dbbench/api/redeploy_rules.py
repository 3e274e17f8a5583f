"""Rules of `trials.redeploy`: every target can be made anew, and leaves nothing. No I/O."""

from dbbench.api.base import rule

REDEPLOY_RULES = (
    rule(
        "!self.trials.redeploy || self.targets.all(t, !has(t.external))",
        "every target is deployed anew for each block, which an external one is not; remove "
        "trials.redeploy or the external targets",
        field_path=".trials.redeploy",
    ),
    rule(
        "!self.trials.redeploy || self.targets.all(t, !has(t.virtualMachine) || "
        "t.virtualMachine.dataDisk.volume != 'HostDisk')",
        "dataDisk.volume: HostDisk leaves its image on the node, and would leave one for each "
        "block; remove trials.redeploy or write another volume",
        field_path=".trials.redeploy",
    ),
)

BLOCKS_PER_DEPLOYMENT_RULES = (
    rule(
        "!has(self.blocksPerDeployment) || self.blocksPerDeployment == 1 || "
        "(has(self.redeploy) && self.redeploy)",
        "blocksPerDeployment needs redeploy: true; without it all blocks are measured on one "
        "deployment",
        field_path=".blocksPerDeployment",
    ),
    rule(
        "!has(self.blocksPerDeployment) || !has(self.min) || "
        "(self.min % self.blocksPerDeployment == 0 && "
        "(!has(self.max) || self.max % self.blocksPerDeployment == 0))",
        "min and max must be multiples of blocksPerDeployment: a deployment's value is the mean of "
        "all its blocks",
        field_path=".blocksPerDeployment",
    ),
)
