# Sourced by the job scripts, on the first node of the job: chooses Python, the rendezvous of all processes and the network.
# It sets the arrays `launch` (the command that srun starts on every node) and `auto_resume`.
# PYTHON is an interpreter with torch, at the same path on every node, for example in a virtual environment on /fsx.
# shellcheck shell=bash disable=SC2034 # the scripts that source this file use these variables

python=${PYTHON:-python3}
"$python" -c 'import torch' || { echo "$python has no torch: set PYTHON to an interpreter with torch, see README.md" >&2; exit 1; }

# One process per GPU, or one per node without GPUs.
gpus=$(find /dev -maxdepth 1 -name 'nvidia[0-9]*' | wc -l)
processes=${SLURM_GPUS_ON_NODE:-$((gpus > 0 ? gpus : 1))}

# All processes meet at the first node. The port depends on the job id, so that two jobs on one node use different ports.
first_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
rendezvous=(--rdzv-backend=c10d --rdzv-endpoint="$first_node:$((20000 + SLURM_JOB_ID % 20000))")

# Some builds of torch (Debian's) lack libuv, which torchrun's store requires. They use a file for the rendezvous instead, which
# all nodes see because this folder is on /fsx; the training itself still uses the network.
if ! "$python" -c 'import torch.distributed as d; d.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)' 2>/dev/null; then
    export USE_LIBUV=0 TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
    rendezvous_file=$PWD/.rendezvous-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}
    trap 'rm -f "$rendezvous_file"' EXIT
    rendezvous=(--rdzv-backend=c10d --rdzv-conf=store_type=file --rdzv-endpoint="$rendezvous_file")
fi

# EFA, if the node has it. The AMI has everything else that NCCL needs for it.
if compgen -G '/sys/class/infiniband/*' >/dev/null; then
    export FI_PROVIDER=efa FI_EFA_FORK_SAFE=1 NCCL_SOCKET_IFNAME='^lo,docker,veth'
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} PYTHONUNBUFFERED=1

launch=("$python" -m torch.distributed.run --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$processes"
    --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}" "${rendezvous[@]}")

# HyperPod's Slurm plugin replaces a failed node and restarts the step. Without the plugin, srun does not support the option.
auto_resume=()
if srun --help 2>&1 | grep -q -- --auto-resume; then auto_resume=(--auto-resume=1); fi
echo "$SLURM_JOB_NUM_NODES nodes with $processes process(es) each, first $first_node, ${auto_resume[0]:-no HyperPod auto-resume}"
