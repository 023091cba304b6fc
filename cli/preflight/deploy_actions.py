"""IAM actions that CloudFormation needs to create what a file describes.

The actions are those of the `create` handlers in AWS's registry schemas; a test compares. A file system has no such list: see
https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html and
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonfsx.html.
"""

from config.model import ClusterConfig
from config.network import InternetAccess

Actions = dict[str, tuple[str, ...]]

# What every deployment creates; the other parts name only additions.
ALWAYS: Actions = {
    "AWS::IAM::Role": ("iam:CreateRole", "iam:PutRolePolicy", "iam:TagRole", "iam:AttachRolePolicy"),
    "AWS::IAM::Policy": ("iam:PutRolePolicy",),
    "AWS::Lambda::Function": ("lambda:CreateFunction", "lambda:TagResource", "iam:PassRole"),
    "AWS::Lambda::EventInvokeConfig": ("lambda:PutFunctionEventInvokeConfig",),
    "AWS::Lambda::Permission": ("lambda:AddPermission",),
    "AWS::Logs::LogGroup": ("logs:CreateLogGroup", "logs:PutRetentionPolicy"),
    "AWS::Logs::MetricFilter": ("logs:PutMetricFilter",),
    "AWS::S3::Bucket": (
        "s3:CreateBucket",
        "s3:PutBucketTagging",
        "s3:PutEncryptionConfiguration",
        "s3:PutBucketPublicAccessBlock",
        "s3:PutBucketVersioning",
        "s3:PutLifecycleConfiguration",
    ),
    "AWS::S3::BucketPolicy": ("s3:PutBucketPolicy",),
    "AWS::KMS::Key": ("kms:CreateKey", "kms:EnableKeyRotation", "kms:PutKeyPolicy", "kms:TagResource"),
    "AWS::StepFunctions::StateMachine": (
        *("states:CreateStateMachine", "states:TagResource", "iam:PassRole"),
        *("kms:DescribeKey", "kms:GenerateDataKey"),
    ),
    "AWS::Events::Rule": ("events:PutRule", "events:PutTargets"),
    "AWS::CloudWatch::Alarm": ("cloudwatch:PutMetricAlarm",),
}
# What CloudFormation calls for parts of a template that are no resources of a service.
TEMPLATE: Actions = {
    "Custom::": ("lambda:InvokeFunction",),
    "Fn::GetStackOutput": ("cloudformation:DescribeStacks",),
    "BootstrapVersion": ("ssm:GetParameters",),
}
VPC: Actions = {
    "AWS::EC2::VPC": ("ec2:CreateVpc", "ec2:ModifyVpcAttribute", "ec2:CreateTags"),
    "AWS::EC2::VPCCidrBlock": ("ec2:AssociateVpcCidrBlock",),
    "AWS::EC2::SecurityGroup": ("ec2:CreateSecurityGroup",),
    "AWS::EC2::SecurityGroupIngress": ("ec2:AuthorizeSecurityGroupIngress",),
    "AWS::EC2::SecurityGroupEgress": ("ec2:AuthorizeSecurityGroupEgress",),
}
INTERNET: Actions = {
    "AWS::EC2::Subnet": ("ec2:CreateSubnet",),
    "AWS::EC2::RouteTable": ("ec2:CreateRouteTable",),
    "AWS::EC2::Route": ("ec2:CreateRoute",),
    "AWS::EC2::SubnetRouteTableAssociation": ("ec2:AssociateRouteTable",),
    "AWS::EC2::InternetGateway": ("ec2:CreateInternetGateway",),
    "AWS::EC2::VPCGatewayAttachment": ("ec2:AttachInternetGateway",),
    "AWS::EC2::EIP": ("ec2:AllocateAddress",),
    "AWS::EC2::NatGateway": ("ec2:CreateNatGateway",),
    "AWS::EC2::VPCEndpoint": ("ec2:CreateVpcEndpoint",),
    "AWS::EC2::FlowLog": ("ec2:CreateFlowLogs", "iam:PassRole"),
}
FILE_SYSTEM: Actions = {"AWS::FSx::FileSystem": ("fsx:CreateFileSystem", "fsx:TagResource", "iam:CreateServiceLinkedRole")}
ASSOCIATIONS: Actions = {
    "AWS::FSx::DataRepositoryAssociation": (
        "fsx:CreateDataRepositoryAssociation",
        "iam:CreateServiceLinkedRole",
        "iam:PutRolePolicy",
    )
}
BOUNDARY: Actions = {"AWS::IAM::Role": ("iam:PutRolePermissionsBoundary",)}
DASHBOARD: Actions = {"AWS::CloudWatch::Dashboard": ("cloudwatch:PutDashboard",)}
TOPIC: Actions = {
    "AWS::SNS::Topic": ("sns:CreateTopic", "sns:TagResource"),
    "AWS::SNS::TopicPolicy": ("sns:SetTopicAttributes",),
}
EMAILS: Actions = {"AWS::SNS::Subscription": ("sns:Subscribe",)}
SLACK: Actions = {"AWS::Chatbot::SlackChannelConfiguration": ("chatbot:CreateSlackChannelConfiguration", "iam:PassRole")}
TEAMS: Actions = {
    "AWS::Chatbot::MicrosoftTeamsChannelConfiguration": (
        "chatbot:CreateMicrosoftTeamsChannelConfiguration",
        "iam:PassRole",
    )
}
EKS_CLUSTER: Actions = {
    "AWS::EKS::Cluster": ("eks:CreateCluster", "eks:TagResource", "iam:PassRole", "iam:CreateServiceLinkedRole"),
    "AWS::EC2::Subnet": ("ec2:CreateSubnet",),
}
EKS: Actions = {
    "AWS::EKS::AccessEntry": ("eks:CreateAccessEntry", "eks:AssociateAccessPolicy", "eks:TagResource"),
    "AWS::EKS::Addon": ("eks:CreateAddon", "eks:TagResource"),
    "AWS::EKS::PodIdentityAssociation": ("eks:CreatePodIdentityAssociation", "eks:TagResource", "iam:PassRole"),
}


def actions(config: ClusterConfig) -> list[str]:
    """Return every action that creates the file's cluster, each once."""
    network, storage = config.network.existing, config.storage
    monitoring, is_monitored = config.monitoring, config.monitoring.enabled
    parts = (
        (ALWAYS, True),
        (TEMPLATE, True),
        (VPC, network is None),
        (INTERNET, network is None or network.internet_access is InternetAccess.CREATE),
        (FILE_SYSTEM, bool(storage.created_file_systems)),
        (ASSOCIATIONS, bool(storage.data_repository_associations)),
        (BOUNDARY, config.node_role.permissions_boundary_arn is not None),
        (DASHBOARD, is_monitored),
        (TOPIC, is_monitored and monitoring.topic_arn is None),
        (EMAILS, is_monitored and bool(monitoring.emails)),
        (SLACK, is_monitored and monitoring.slack is not None),
        (TEAMS, is_monitored and monitoring.teams is not None),
        (EKS_CLUSTER, config.creates_eks_cluster),
        (EKS, config.eks is not None),
    )
    return sorted({action for part, is_made in parts if is_made for needed in part.values() for action in needed})
