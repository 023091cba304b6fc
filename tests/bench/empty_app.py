"""What every CDK app pays for: an app with one stack and nothing in it."""

from aws_cdk import App, Stack

app = App()
Stack(app, "Empty")
app.synth()
