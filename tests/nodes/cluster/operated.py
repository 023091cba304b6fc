"""What an operator of the cluster ml has: its file, and a stack that outputs its name."""

FILE = """\
region: us-west-2
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {name: controller, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: login, role: login, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: workers, role: compute, partition: dev, instance_type: ml.c5.xlarge, instance_count: 2}
"""
STACK = {
    "Resources": {"Wait": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    "Outputs": {"ClusterName": {"Value": "ml", "Description": "name of the cluster"}},
}
